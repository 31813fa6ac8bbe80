"""Questions, their passages, and summaries written by people, as parts of a corpus."""
