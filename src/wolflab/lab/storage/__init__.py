"""What a run keeps on disk: games packed, calls, vectors, and who may write."""
