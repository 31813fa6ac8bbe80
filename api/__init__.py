"""Shared parts of all endpoints: problem details, pagination, parsers, limits. Does not depend on other apps."""
