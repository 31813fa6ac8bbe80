"""Summarisers over HTTP."""
