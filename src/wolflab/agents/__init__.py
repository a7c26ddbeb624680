"""Agents: one seat's view and one ask in, a reply out. This module lists what an agent of your own needs."""

from .base import IO, Agent, Invalid, Reply
from .own import OwnAgent

__all__ = ["IO", "Agent", "Invalid", "OwnAgent", "Reply"]
