"""A recorded game as a page that opens from disk: the ring of players, events, thoughts."""
