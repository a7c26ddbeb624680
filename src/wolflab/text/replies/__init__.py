"""What comes back from a model: the shape that is asked for, and what is read out of the text."""
