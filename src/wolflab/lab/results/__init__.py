"""What a run has to tell: its games for the measures, and what stands beside the summary."""
