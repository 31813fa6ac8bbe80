"""Pictures of figures, drawn on the server as SVG."""
