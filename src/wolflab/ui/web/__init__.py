"""Tables in the browser: people and agents play together (002 §7.3, 004 §E.7).

A seat is sent only its view, numbered within it. All timing depends on public facts alone: see `timeline`.

A request passes `middleware` and `access` (who may do what) to `table_app`, which acts on a `web_table`;
`table_server` holds all tables. A `table_game` plays, and its events go through a `timeline` to each viewer's
`feed`; `state_messages` makes messages of the table's state (`table_state`); `sockets` sends both. The
`table_plan` and each `seat_session` are stored beside the run.
"""
