from components.panels.steer.panel import PANEL

__all__ = ["PANEL"]
