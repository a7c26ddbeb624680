"""Pages on which people label replies or review questions. A page works from a file, without a server."""
