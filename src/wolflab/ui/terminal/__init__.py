"""What the terminal shows: messages, tables, forecasts, progress, a game, a seat at a game."""
