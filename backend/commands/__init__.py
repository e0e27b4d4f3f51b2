"""One module per sub-command of ``python -m backend``."""
