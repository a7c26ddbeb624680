"""The choices of `village` among an ask's options or among candidates."""
