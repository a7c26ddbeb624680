"""The thoughts of `village` before it acts: plans, questions to itself with their answers, and advice."""
