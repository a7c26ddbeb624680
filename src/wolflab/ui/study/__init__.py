"""A study in the browser: its pages, step by step, and the tables at which its people play."""
