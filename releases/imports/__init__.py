"""Formats that only releases have."""
