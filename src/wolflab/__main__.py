"""``python -m wolflab`` is the ``wolflab`` command."""

from .cli import main

main()
