"""Pools of past games that players learn from: built, merged, inspected, loaded for play (003 §3.4)."""
