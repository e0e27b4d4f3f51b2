"""Unheard's backend: see and hear what audio-language models fail to hear. Usable without the page."""

__version__ = "0.1.0"
