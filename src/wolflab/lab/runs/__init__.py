"""Games played and accounted for: players cast, games run, resumed, counted, played back."""
