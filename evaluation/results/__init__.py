"""Results of rating rounds: computed by a job, stored, and read by pages and tables."""
