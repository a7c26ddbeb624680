"""Detects behaviours of players: social and strategic ones, failures, hallucinations.

The detectors are rules on the record and on the output of `text.reading`; they use no model. Each behaviour
states its source, its definition and its limits (`BEHAVIOURS`). Counts are of observable acts, not of
intentions.
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
