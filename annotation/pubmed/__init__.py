"""PubMed, asked through NCBI's E-utilities: who asks, how fast, and what came back."""
