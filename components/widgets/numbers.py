"""Numbers as the page writes them."""

from __future__ import annotations


def signed(value: float, decimals: int = 3) -> str:
    """With its sign, and a minus as wide as the plus: columns of cosines line up."""
    return f"{value:+.{decimals}f}".replace("-", "−")
