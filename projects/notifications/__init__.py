"""Notifications: created by the actions concerned, shown as one list, and sent as e-mail digests."""
