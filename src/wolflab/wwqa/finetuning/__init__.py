"""Fine-tuning on questions on the rules (002 §9.2): what is planned, how it is trained, what is left
behind.
"""
