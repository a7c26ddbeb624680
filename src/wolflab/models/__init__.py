"""A model is a service that answers a request: the built-in `village`, or any server over HTTP."""
