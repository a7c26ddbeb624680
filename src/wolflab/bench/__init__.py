"""How fast Wolflab is on this machine, beside references measured in the same run."""
