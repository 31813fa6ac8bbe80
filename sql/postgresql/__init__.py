"""Django's engine for PostgreSQL, but that a kept connection is not asked at every request whether it is well."""
