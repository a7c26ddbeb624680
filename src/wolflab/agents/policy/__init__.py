"""Inference of trained policies in numpy: the inputs of a decision and the probabilities of candidates."""
