# Four images from one file: web (no torch), worker, gpu-worker (torch) and proxy. docker-compose.yml builds them.
# Layers that rarely change come first, so that a change of the code installs nothing.
FROM node:24.11.1-slim AS frontend
WORKDIR /build
COPY frontend/package.json frontend/package-lock.json frontend/.npmrc ./
RUN npm ci --no-audit --no-fund
COPY frontend/ ./
RUN npm run build

FROM scratch AS code
COPY manage.py pyproject.toml requirements.txt /
COPY docs /docs
COPY measures /measures
COPY sql /sql
COPY api /api
COPY audit /audit
COPY accounts /accounts
COPY projects /projects
COPY annotation /annotation
COPY generation /generation
COPY evaluation /evaluation
COPY releases /releases
COPY config /config
COPY operations /operations

FROM python:3.11.14-slim-trixie AS libraries
# pg_dump and pg_restore, for `manage.py backup`: at least the version of the server in docker-compose.yml.
RUN apt-get update && apt-get install -y --no-install-recommends postgresql-client-17 && rm -rf /var/lib/apt/lists/*
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 READ_DOT_ENV=0
WORKDIR /concord
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt
# A new volume gets its owner and folders from this layer.
RUN useradd --system --uid 10001 concord && mkdir -p /data/tmp && chown -R concord /data

FROM libraries AS worker-libraries
COPY requirements/figures.txt requirements/tokens.txt requirements/parquet.txt requirements/splits.txt requirements/
RUN pip install --no-cache-dir -r requirements/figures.txt -r requirements/tokens.txt -r requirements/parquet.txt -r requirements/splits.txt

FROM worker-libraries AS gpu-libraries
COPY requirements/gpu.txt requirements/
RUN pip install --no-cache-dir -r requirements/gpu.txt

FROM libraries AS web
COPY --from=code / ./
RUN pip install --no-cache-dir --no-deps --editable .
COPY --from=frontend /build/dist frontend/dist
USER concord
EXPOSE 8000
CMD ["gunicorn", "--config", "python:config.gunicorn", "config.wsgi"]

FROM worker-libraries AS worker
COPY --from=code / ./
RUN pip install --no-cache-dir --no-deps --editable .
USER concord
CMD ["python", "manage.py", "work"]

FROM gpu-libraries AS gpu-worker
COPY --from=code / ./
RUN pip install --no-cache-dir --no-deps --editable .
USER concord
CMD ["python", "manage.py", "work", "--queue", "gpu"]

FROM caddy:2.10.2 AS proxy
RUN adduser -D -H -u 1000 concord && chown -R concord /data /config
COPY Caddyfile /etc/caddy/Caddyfile
USER concord
