"""Studies with people: the plan, the participants, and the assignment of games."""
