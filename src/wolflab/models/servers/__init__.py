"""Models and embedders behind a server: HTTP, keys, dialects, errors and retries."""
