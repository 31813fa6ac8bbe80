"""Database features beyond Django's ORM, for SQLite and PostgreSQL. Does not depend on other apps."""
