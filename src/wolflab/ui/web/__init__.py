"""Tables in the browser: people and agents play together (002 §7.3, 004 §E.7).

What a seat is sent is cut from its view, and numbered within it. Everything that tells the time is decided by
public facts alone: see `timeline`.

A request passes `middleware` and `access` (who may do what) to `app`, which acts on a `table`;
`table_server` holds all tables. A `table_game` plays, and its events go through a `timeline` to each
viewer's `feed`; `state_messages` puts the state of the table (`table_state`) into words; `sockets` sends
both. Kept are a `plan` and the `seat_session` of each seat, beside the run.
"""
