"""What each command of the command line does: one module each, and what several share in `common`."""
