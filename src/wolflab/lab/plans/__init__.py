"""What is to be played: experiments and tournaments as files say them, checked before anything begins."""
