"""Splits of a data set: units that share a study or a text stay in one part, and leakage between parts is reported."""
