"""Tables in the browser: people and agents play together (002 §7.3, 004 §E.7).

What a seat is sent is cut from its view, and numbered within it. Everything that tells the time is decided by
public facts alone: see `timeline`.

Up: a request passes `guard` and `doors` (who may do what) to `app`, which acts on a `table`; `house` holds
all tables. Down: the game's events go through a `timeline` to each viewer's `feed`; how a table stands
(`room`) is put into words by `telling`; `live` sends both. What is kept is a `plan` and the `desk` of each
seat, beside the run.
"""
