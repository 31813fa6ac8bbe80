"""Text generation: decoding settings, beam search and shared caches."""
