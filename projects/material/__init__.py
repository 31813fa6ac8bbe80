"""Kinds of material that a corpus can consist of. Each is registered by the app that owns its model."""
