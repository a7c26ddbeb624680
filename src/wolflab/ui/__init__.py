"""User interfaces: commands, the terminal, reports, and pages in the browser."""
