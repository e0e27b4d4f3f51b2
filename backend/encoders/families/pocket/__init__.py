"""The pocket encoder: an open-vocabulary audio-text encoder small enough to ship with the program.

``assets/pocket/CARD.md`` says what it is, what it was trained on and how good it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.encoders.base import Encoder, EncoderInfo
from backend.errors import InputError
from backend.files import ASSETS

ENCODER_ID = "pocket"
FOLDER = ASSETS / "pocket"
"""Folder of the shipped weights."""
TOWERS_FILE = "towers.safetensors"
"""Audio tower, text head and centring vector; replaced by every ``pocket export``."""
SENTENCE_PARTS = tuple(f"minilm-int8.safetensors.{part}-of-3" for part in (1, 2, 3))
"""The frozen sentence encoder under the text head: one safetensors file, cut into equal parts (joined again, they are
the file). Plain git takes files of less than 10 MB to a Space, and one of its tensors alone is larger than that."""
TOKENIZER_FILE = "tokenizer.json"
SHIPPED_FILES = (TOWERS_FILE, *SENTENCE_PARTS, TOKENIZER_FILE)
"""Everything the encoder reads, in the order in which the weights hash reads it."""


class PocketFamily:
    """The registry's entry: one encoder, ready wherever the shipped weights are."""

    prefix = ENCODER_ID

    def listed(self) -> Sequence[EncoderInfo]:
        """The one encoder of this family; looks only whether its files exist."""
        missing = [name for name in SHIPPED_FILES if not (FOLDER / name).is_file()]
        needs = f"{', '.join(missing)} missing from assets/pocket; check the files out again." if missing else ""
        return [
            EncoderInfo(
                id=ENCODER_ID,
                title="Pocket: ships with Unheard, needs no download",
                ready=not missing,
                needs=needs,
                dim=384,
                sample_rate=16000,
                text=True,
                licence="Apache-2.0",
                source="assets/pocket/CARD.md",
            )
        ]

    def load(self, encoder_id: str) -> Encoder:
        """The pocket encoder.

        Raises
        ------
        InputError
            The id names a variant that does not exist, or a weights file is missing or damaged.
        """
        if encoder_id != ENCODER_ID:
            raise InputError(
                f"There is no encoder {encoder_id!r}; the pocket encoder has no variants, its id is 'pocket'."
            )
        from backend.encoders.families.pocket.encoder import load_pocket

        return load_pocket(FOLDER)


FAMILY = PocketFamily()
