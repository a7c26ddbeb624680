"""Every exception that Wolflab raises on purpose.

A message is one sentence that says what was given, where, and what to do. `WolflabError` and its
children are shown to users without a traceback; anything else is a bug in Wolflab.
"""

import signal
from typing import ClassVar


class WolflabError(Exception):
    """Base of all expected errors; the message is for the person at the keyboard."""


class RulesetError(WolflabError):
    """A ruleset that contradicts itself; `field` names the switch at fault."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"ruleset field {field!r}: {problem}")
        self.field = field
        self.problem = problem


class IllegalReply(WolflabError):
    """A reply that the rules refuse; the state is unchanged."""


class ExperimentError(WolflabError):
    """An experiment file that cannot be run as written."""


class RecordError(WolflabError):
    """A record that is damaged, of another version, or does not follow from its replies."""


class AgentError(WolflabError):
    """An agent's code that does what no agent may: it gives no reply, or waits outside its `io`."""


class StoreError(WolflabError):
    """A run's directory or file that cannot be used, is in use, or belongs to another experiment."""


class NotNow(StoreError):
    """A file or directory that cannot be used now: it is in use, the disk is full, or access is denied."""


class ModelError(WolflabError):
    """A model that cannot be used as configured: unknown name, missing key, refused setting."""


class ServerError(ModelError):
    """A server that keeps failing (429, 5xx, timeout). The game is unfinished and can be resumed."""


class ModelRefused(ModelError):
    """A model that answers nobody: a refused key, a model that is not there, used-up credit. Nothing more is
    asked there; games that need it are unfinished, and can be resumed once that is mended.
    """


class BudgetExceeded(ModelError):
    """The run's budget of tokens or money is spent. The run is unfinished and can be resumed."""


class Stopped(ModelError):
    """No call starts any more, because somebody stopped the run. It is unfinished and can be resumed."""


class Interrupted(KeyboardInterrupt):
    """Somebody stopped the process, by Ctrl-C or a signal of this number; what it began is put away.

    last: the number of the last signal, for code that the exception cannot pass through (SQLite).
    """

    last: ClassVar[int] = signal.SIGINT

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = Interrupted.last = number


class CassetteMismatch(WolflabError):
    """A recorded call that no longer fits the request now made under the same key."""


class NotStored(CassetteMismatch):
    """A request whose call is not stored, made where calls are only played back."""
