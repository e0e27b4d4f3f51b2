from components.panels.compose.panel import PANEL

__all__ = ["PANEL"]
