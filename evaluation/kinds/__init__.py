"""The kinds of the queue by which summaries are judged, one folder each."""
