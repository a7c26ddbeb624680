"""What is to be played: experiments and tournaments, read from files and checked before anything starts."""
