"""Questions on the rules (002 §4.1, §8): made and proved by the engine, audited, asked, exported."""
