"""One seat's view and one question in, a reply out. What an agent of one's own needs is listed here."""

from .base import IO, Agent, Invalid, Reply
from .own import OwnAgent

__all__ = ["IO", "Agent", "Invalid", "OwnAgent", "Reply"]
