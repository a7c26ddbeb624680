"""Locks the network of a Python program that a test starts with this folder and `tests/` on PYTHONPATH.

Every address outside this machine that it tries to reach is a line of the file $NETWORK_ATTEMPTS.
"""

import os

from network_lock import lock


def note(address: object) -> None:
    with open(os.environ["NETWORK_ATTEMPTS"], "a", encoding="utf-8") as file:
        file.write(f"{address!r}\n")


lock(setattr, note)
