"""Tables in the browser: people and agents play together (002 §7.3, 004 §E.7).

What a seat is sent is cut from its view, and numbered within it. Everything that tells the time is decided by
public facts alone: see `timeline`.
"""
