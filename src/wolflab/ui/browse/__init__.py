"""Runs in the browser: lists, one run, its games, two games side by side. Nothing here writes.

A request passes `ui.web.middleware` to `app`; `run_index` knows which runs there are and opens one;
`lists`, `games` and `comparing` are pages as HTML, in the report's style (`frame`). Numbers come from the
database (`lab.storage.overview`); a record is read for a replay and for two games side by side alone.
"""
