"""How Concord is served: gunicorn's processes and its reading of HTTP, with a worker that no slow client can stop."""
