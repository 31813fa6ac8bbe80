"""Connections that the house makes: where they may go, and one request over each."""
