"""A run as flat tables: a row for each game, vote, statement, judgement, call."""
