"""Makes untrained policies, as a baseline for trained ones.

    python benchmarks/untrained.py FOLDER

Writes FOLDER/0.safetensors, 1 and 2: networks of the size of `small` with the numbers that training starts
from, of seeds 0, 1 and 2, for the hashing embedder and three candidates. A player takes one by `policy`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from wolflab.agents.policy.checkpoint import Checkpoint, save
from wolflab.agents.policy.network import initial, small
from wolflab.models.embedders.hashing import HashingEmbedder


def main(folder: Path) -> None:
    """Write the three files and say where."""
    embedder = HashingEmbedder()
    config = small(embedder.dimensions)
    for seed in range(3):
        arrays = initial(config, seed)
        made = Checkpoint(f"untrained-{seed}", config, embedder.describe(), 3, "model", "doctor", arrays)
        path = folder / f"{seed}.safetensors"
        save(made, path)
        print(path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
