"""What `village` chooses among an ask's options or among candidates."""
