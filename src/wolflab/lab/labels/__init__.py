"""Replies labelled by people, rules and a judge, and how far they agree."""
