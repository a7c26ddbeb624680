"""The results of a run: its games for the measures, and what reports add to the summary."""
