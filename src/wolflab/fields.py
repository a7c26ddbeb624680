"""What every part of a file's settings is made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A part of the settings: an unknown field is an error, and nothing changes once it is built."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
