"""What a closed round's raters said, read for statistics, and the figures that a worker stored of it."""
