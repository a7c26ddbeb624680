"""Studies with people: what one is, who takes part, and which game comes next for whom."""
