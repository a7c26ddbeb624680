"""Pools of past games that players learn from: built, merged, looked into, loaded for play (003 §3.4)."""
