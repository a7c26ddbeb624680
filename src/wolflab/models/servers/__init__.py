"""Models and embedders behind a server: HTTP, keys, what servers say, and what to do about it."""
