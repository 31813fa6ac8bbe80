"""The kind that rates summaries one by one."""
