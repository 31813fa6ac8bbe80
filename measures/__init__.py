"""Pure functions over plain values: agreement, spans, Merkle trees, sampling. Nothing here knows Django."""
