"""The statements of `village`: by habit, by a strategy or by an intent, and their words."""
