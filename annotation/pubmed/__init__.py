"""PubMed search through NCBI's E-utilities: client, rate limit, jobs and results."""
