"""Outgoing HTTP requests: the check of addresses, and a transport that connects only to checked addresses."""
