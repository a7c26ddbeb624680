"""What a run keeps on disk: packed games, calls, vectors, and the lock of the writer."""
