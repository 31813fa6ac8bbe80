"""Divide units into parts so that no PubMed id and no text is in two parts, and measure what parts share."""
