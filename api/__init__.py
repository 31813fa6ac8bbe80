"""What every endpoint has in common: problem details, pages, bodies, limits. It knows no app and no person."""
