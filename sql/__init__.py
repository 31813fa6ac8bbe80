"""What Concord asks of a data base beyond Django's ORM, alike on SQLite and PostgreSQL. It knows no app."""
