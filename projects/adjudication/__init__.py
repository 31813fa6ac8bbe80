"""Adjudication: curators decide the contested and flagged units of closed rounds."""
