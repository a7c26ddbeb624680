"""What `village` says: by habit, by a strategy or as told, and the words for it."""
