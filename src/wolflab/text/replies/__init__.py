"""Replies of models: the JSON schema that is asked for, and the reading of the text."""
