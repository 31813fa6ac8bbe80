"""Attacks that run while annotators work. Each is limited in number and time and uses loopback only."""
