"""Rating summaries one by one."""
