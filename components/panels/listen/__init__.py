from components.panels.listen.panel import PANEL

__all__ = ["PANEL"]
