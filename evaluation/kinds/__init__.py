"""Queue kinds in which summaries are rated or compared, one package each."""
