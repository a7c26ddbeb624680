"""Measures the speed of Wolflab on this machine, beside a reference in the same run."""
