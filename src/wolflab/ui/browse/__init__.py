"""Runs in the browser: lists, one run, its games, two games side by side. Nothing here writes.

A request passes `ui.web.middleware` to `browse_app`; `run_index` finds runs and opens one; `run_lists`,
`games` and `comparing` make pages as HTML, in the report's style (`frame`). Numbers come from the database
(`lab.storage.overview`); records are read only for replays and comparisons of two games.
"""
