"""Pure functions over plain values: agreement, spans, overlap of texts, direction, Merkle trees, sampling."""
