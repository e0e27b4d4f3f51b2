"""LAION-CLAP checkpoints through the laion_clap package."""

from __future__ import annotations

from collections.abc import Sequence

from backend.encoders.base import Encoder, EncoderInfo
from backend.errors import InputError


class Family:
    """Encoders whose id starts with ``laion:``."""

    prefix = "laion"

    def listed(self) -> Sequence[EncoderInfo]:
        """None yet."""
        return ()

    def load(self, encoder_id: str) -> Encoder:
        """Raises InputError: this family cannot be loaded yet."""
        raise InputError(f"{encoder_id} cannot be loaded: LAION-CLAP checkpoints are not built into this version. Use the encoder pocket.")


FAMILY = Family()
