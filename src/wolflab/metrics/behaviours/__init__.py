"""What players do beyond the rules: social and strategic behaviours, failures, hallucinations.

Rule-based detectors on the record and on what `text.reading` reads; no model. Each behaviour states its
source, its definition and its limits (`BEHAVIOURS`). Counts are of what can be seen, never of what was meant.
"""

from .detection import BEHAVIOURS, UNREASONABLE, DetectedBehaviour, detected_behaviours, unreasonable
from .detector_view import SIDES, Behaviour, DetectorView, SideName
from .trust import TrustTable, trust_tables

__all__ = [
    "BEHAVIOURS",
    "SIDES",
    "UNREASONABLE",
    "Behaviour",
    "DetectedBehaviour",
    "DetectorView",
    "SideName",
    "TrustTable",
    "detected_behaviours",
    "trust_tables",
    "unreasonable",
]
