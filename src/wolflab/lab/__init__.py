"""Many games: plan them, run them, resume, store, compare."""
