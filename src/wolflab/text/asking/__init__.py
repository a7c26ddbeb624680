"""A question in words: what a model is told, from the rules to the instruction to answer."""
