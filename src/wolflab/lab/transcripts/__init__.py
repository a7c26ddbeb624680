"""A run as transcripts that other programs read: one for each player of a game.

`seats` tells what a player was told, asked and replied; `samples` puts that into Inspect's words;
`inspect_log` and `scout` write the files.
"""
