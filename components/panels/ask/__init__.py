from components.panels.ask.panel import PANEL

__all__ = ["PANEL"]
