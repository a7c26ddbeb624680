"""What every part of a file's settings is made of."""

from __future__ import annotations

import yaml
from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A part of the settings: an unknown field is an error, and nothing changes once it is built."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    def written(self) -> str:
        """As a file: what was set, in YAML."""
        told = self.model_dump(mode="json", exclude_unset=True)
        return yaml.safe_dump(told, sort_keys=False, allow_unicode=True)
