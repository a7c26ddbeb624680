"""A trained policy's inference, in numpy: what it sees of a decision, and how it weighs the candidates."""
