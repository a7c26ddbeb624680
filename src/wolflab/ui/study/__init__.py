"""A study in the browser: its pages, step by step, around the tables at which its people play."""
