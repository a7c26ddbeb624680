"""The beliefs of `village`: who may hold which role, from events, statements and earlier thoughts."""
