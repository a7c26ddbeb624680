"""Worker processes: on this machine, or of a Ray cluster. `Workers` gives them tasks."""

from .engine import Engine, Link, WorkerEnded
from .local import LocalEngine, cores
from .on_ray import RayEngine
from .worker import ask_driver, tell_driver
from .workers import TaskPool, Workers, pool_of

__all__ = [
    "Engine",
    "Link",
    "LocalEngine",
    "RayEngine",
    "TaskPool",
    "WorkerEnded",
    "Workers",
    "ask_driver",
    "cores",
    "pool_of",
    "tell_driver",
]
