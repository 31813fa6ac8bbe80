"""How gunicorn serves Concord in production: ``gunicorn --config python:config.gunicorn config.wsgi``.

``WEB_CONCURRENCY`` (gunicorn's own) sets the number of processes; the rest is the same everywhere.
"""

import os

bind = os.environ.get("BIND", "0.0.0.0:8000")
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
worker_class = "gthread"
threads = int(os.environ.get("WEB_THREADS", "4"))
# An upload of the largest size over a slow line, streamed by the proxy, must not be taken for a hung worker; gthread
# workers answer heartbeats while their threads wait.
timeout = 120
graceful_timeout = 30
keepalive = 75
# Heartbeats on a slow disk would make the server take a waiting worker for a hung one.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
control_socket_disable = True
# One line a request is written by accounts.request_log, which knows the route and the person.
accesslog = None
