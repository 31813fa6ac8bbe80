"""Django's engine for PostgreSQL, without a health check query at every request."""
