"""Transcripts of a run for other programs: one for each player of a game.

`seats` collects what a player learned, was asked and replied; `samples` converts it to Inspect's format;
`inspect_log` and `scout` write the files.
"""
