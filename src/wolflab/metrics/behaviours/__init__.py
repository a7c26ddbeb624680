"""What players do beyond the rules: social and strategic behaviours, failures, hallucinations.

Rule-based detectors on the record and on what `text.reading` reads; no model. Each behaviour states its
source, its definition and its limits (`BEHAVIOURS`), and an example that must show and one that must not
(`EXAMPLES`). Counts are of what can be seen, never of what was meant.
"""

from .examples import EXAMPLES, SCENE, Example
from .play import Play
from .rows import (
    BEHAVIOURS,
    UNREASONABLE,
    BehaviourRow,
    behaviour_rows,
    counts,
    rows_of,
    sightings,
    unreasonable,
)
from .shapes import SIDES, Behaviour, Side, Sighting
from .trust import TrustRow, TrustTable, trust_rows, trust_rows_of, trust_tables

__all__ = [
    "BEHAVIOURS",
    "EXAMPLES",
    "SCENE",
    "SIDES",
    "UNREASONABLE",
    "Behaviour",
    "BehaviourRow",
    "Example",
    "Play",
    "Side",
    "Sighting",
    "TrustRow",
    "TrustTable",
    "behaviour_rows",
    "counts",
    "rows_of",
    "sightings",
    "trust_rows",
    "trust_rows_of",
    "trust_tables",
    "unreasonable",
]
