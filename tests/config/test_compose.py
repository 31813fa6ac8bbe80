"""Files for installations with containers, checked without building anything."""

import importlib
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from celery.bin.worker import worker as celery_worker
from django.conf import settings
from django.core.management import get_commands, load_command_class

from api.limits import LIMITS
from generation.backends.identity import GPU
from projects.jobs.queries import NEEDS_TORCH, family
from tests.stages.proxy import caddyfile

ROOT = Path(settings.ROOT)
WRITTEN = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(WRITTEN)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
CADDYFILE = (ROOT / "Caddyfile").read_text(encoding="utf-8")
GUIDE = (ROOT / "docs" / "processes.md").read_text(encoding="utf-8")
SAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
OURS = {"migrate", "web", "worker", "gpu-worker"}
#: Services without a health check, with reasons.
NO_HEALTH_CHECK = {"migrate": "runs once", "gpu-worker": "busy on a GPU it answers no pings; its lease tells"}
#: Variables that other programs read.
OF_OTHERS = {"TMPDIR", "DOMAIN", "TLS", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "POSTGRES_USER", "POSTGRES_DB"}
#: Names from the sample: GENERATION_ENDPOINTS names the variable of a key.
OF_THE_SAMPLE = {"LLM_KEY"}
#: Earlier names of settings, which are read for one more release.
EARLIER_NAMES = {"SEAL_AFTER_ROWS", "SEAL_AFTER_HOURS"}


def read_by_concord() -> set[str]:
    """Return every environment variable that settings or gunicorn's configuration read."""
    found = re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', (ROOT / "config" / "settings.py").read_text(encoding="utf-8"))
    found += re.findall(r'environ\.get\("([A-Z_]+)"', (ROOT / "config" / "gunicorn.py").read_text(encoding="utf-8"))
    assert len(found) > 15
    return set(found) | set(LIMITS)


def documented() -> set[str]:
    """Return every variable of the sample environment, including commented ones."""
    return set(re.findall(r"^(?:# )?([A-Z_]+)=", SAMPLE, re.MULTILINE))


def stages() -> dict[str, str]:
    """Return the stages of the Dockerfile: name -> lines."""
    parts = re.split(r"^FROM (\S+) AS (\S+)$", DOCKERFILE, flags=re.MULTILINE)[1:]
    return {parts[i + 1]: f"FROM {parts[i]}\n{parts[i + 2]}" for i in range(0, len(parts), 3)}


def test_every_setting_is_in_the_sample_environment() -> None:
    assert read_by_concord() - documented() == EARLIER_NAMES
    assert documented() - read_by_concord() - OF_OTHERS == OF_THE_SAMPLE, "told, and read by nobody"


def test_the_services_are_those_of_the_guide() -> None:
    assert set(SERVICES) == OURS | {"postgres", "redis", "proxy"}
    assert SERVICES["gpu-worker"]["profiles"] == ["gpu"]
    assert all("profiles" not in SERVICES[name] for name in set(SERVICES) - {"gpu-worker"})


@pytest.mark.parametrize("name", SERVICES)
def test_services_have_health_checks_limits_and_few_writable_paths(name: str) -> None:
    service = SERVICES[name]
    assert ("healthcheck" in service) != (name in NO_HEALTH_CHECK)
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("privileged") is None
    assert set(service["deploy"]["resources"]["limits"]) == {"memory", "cpus", "pids"}
    assert service["restart"] == ("no" if name == "migrate" else "unless-stopped")
    for volume in service.get("volumes", []):
        assert volume.split(":")[0] in COMPOSE["volumes"], "a named volume, never a folder of the host"
    assert set(service["networks"]) <= set(COMPOSE["networks"])


def test_only_the_proxy_is_reached_from_outside_and_it_does_not_reach_the_data() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert SERVICES["proxy"]["networks"] == ["outside"]
    assert SERVICES["postgres"]["networks"] == SERVICES["redis"]["networks"] == ["inside"]


@pytest.mark.parametrize("name", sorted(OURS | {"proxy"}))
def test_images_are_dockerfile_stages_with_an_unprivileged_user(name: str) -> None:
    service = SERVICES[name]
    stage = stages()[service["build"]["target"]]
    assert re.findall(r"^USER (\S+)$", stage, re.MULTILINE) == ["concord"]
    assert service["image"] == f"concord-{service['build']['target']}"


def test_third_party_services_run_as_unprivileged_users_too() -> None:
    assert (SERVICES["postgres"]["user"], SERVICES["redis"]["user"]) == ("postgres", "redis")


def test_images_of_others_have_exact_versions() -> None:
    """A digest may follow, as in docs/admin.md."""
    others = [SERVICES["postgres"]["image"], SERVICES["redis"]["image"]]
    others += re.findall(r"^FROM (\S+:\S+)", DOCKERFILE, re.MULTILINE)
    assert len(others) == 5
    for image in others:
        assert re.fullmatch(r"\w+:\d+\.\d+(\.\d+)?[a-z-]*(@sha256:[0-9a-f]{64})?", image), image


def test_node_is_a_version_with_long_support() -> None:
    [major] = re.findall(r"^FROM node:(\d+)", DOCKERFILE, re.MULTILINE)
    assert int(major) >= 24
    assert int(major) % 2 == 0


def test_a_secret_is_only_where_it_is_used() -> None:
    """A variable that is set to nothing overrides the file .env."""
    used: dict[str, set[str]] = {
        "EMAIL_HOST_PASSWORD": {"worker"},
        "OIDC_CLIENT_SECRET": {"web"},
        "METRICS_TOKEN": {"web"},
        "POSTGRES_PASSWORD": set(),
        "REDIS_PASSWORD": set(),
    }
    for secret, services in used.items():
        assert {n for n in OURS if SERVICES[n]["environment"].get(secret) != ""} == services, secret
    keys = {"path": ".env.worker", "required": False}
    assert {name for name in OURS if keys in list(SERVICES[name]["env_file"])} == {"worker", "gpu-worker"}


def test_redis_asks_for_a_password() -> None:
    assert '--requirepass "$$REDISCLI_AUTH"' in SERVICES["redis"]["command"][2]
    for name in OURS:
        address = SERVICES[name]["environment"]["REDIS_URL"]
        assert address == "redis://:${REDIS_PASSWORD:?set it in .env}@redis:6379/0"


def test_the_images_can_back_up_the_database_that_is_served() -> None:
    (served,) = re.findall(r"^postgres:(\d+)\.", SERVICES["postgres"]["image"])
    assert re.findall(r"postgresql-client-(\d+)", stages()["libraries"]) == [served]


def test_the_dockerfile_copies_existing_files_and_all_code() -> None:
    for source in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE):
        for path in source.split():
            assert (ROOT / path).exists(), path
    copied = set(re.findall(r"^COPY (\w+) /\1$", stages()["code"], re.MULTILINE))
    assert copied == {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"} | {"docs"}


def test_the_guides_that_pages_show_are_in_the_image() -> None:
    assert re.search(r"^COPY docs /docs$", stages()["code"], re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert not {"docs", "docs/images"} & set(ignored)


def test_only_the_gpu_worker_s_image_has_torch() -> None:
    named = stages()
    assert "requirements/gpu.txt" in named["gpu-libraries"]
    assert named["gpu-worker"].startswith("FROM gpu-libraries")
    assert named["web"].startswith("FROM libraries")
    assert named["worker"].startswith("FROM worker-libraries")
    for other in ("web", "worker", "worker-libraries", "libraries"):
        assert "gpu" not in named[other]
    assert re.search(r"^torch==[\d.]+$", (ROOT / "requirements" / "gpu.txt").read_text(), re.MULTILINE)


def test_images_of_workers_render_figures_and_the_web_image_does_not() -> None:
    named = stages()
    assert "requirements/figures.txt" in named["worker-libraries"]
    assert named["gpu-libraries"].startswith("FROM worker-libraries")
    assert not [name for name in ("web", "libraries") if "figures" in named[name]]


def test_images_of_workers_write_parquet_and_the_web_image_does_not() -> None:
    named = stages()
    assert "requirements/parquet.txt" in named["worker-libraries"]
    assert not [name for name in ("web", "libraries") if "parquet" in named[name]]
    assert "pyarrow" not in (ROOT / "requirements.txt").read_text()


def test_only_the_gpu_worker_reserves_a_gpu() -> None:
    asking = [name for name, s in SERVICES.items() if "reservations" in s.get("deploy", {}).get("resources", {})]
    assert asking == ["gpu-worker"]
    device = SERVICES["gpu-worker"]["deploy"]["resources"]["reservations"]["devices"][0]
    assert (device["driver"], device["capabilities"]) == ("nvidia", ["gpu"])


def commands() -> list[list[str]]:
    of_images = re.findall(r"^CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    of_units = re.findall(r"`?ExecStart=/opt/concord/\.venv/bin/([^`\n]+)", GUIDE)
    of_services = [SERVICES[name]["command"] for name in sorted(OURS)]
    return of_services + [yaml.safe_load(found) for found in of_images] + [found.split() for found in of_units]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_commands_of_services_exist_and_accept_their_options(command: list[str]) -> None:
    program, *rest = command
    assert shutil.which(program) or importlib.util.find_spec(program)
    options = {word.partition("=")[0] for word in rest if word.startswith("--")}
    if program == "python":
        assert rest[0] == "manage.py"
        parser = load_command_class(get_commands()[rest[1]], rest[1]).create_parser("manage.py", rest[1])
        assert options <= {option for action in parser._actions for option in action.option_strings}
    elif program == "celery":
        assert rest[:4] == ["--quiet", "-A", "config", "worker"], "no banner between lines of JSON"
        assert options - {"--quiet"} <= {option for parameter in celery_worker.params for option in parameter.opts}
    else:
        assert rest == ["--config", "python:config.gunicorn", "config.wsgi"]
        assert callable(importlib.import_module("config.wsgi").application)
        assert importlib.import_module("config.gunicorn").accesslog is None


def test_concord_knows_the_variables_that_it_is_given() -> None:
    for name in OURS:
        assert set(SERVICES[name]["environment"]) <= read_by_concord() | OF_OTHERS | {"HF_HOME"}
        assert SERVICES[name]["env_file"] in (".env", [".env", {"path": ".env.worker", "required": False}])
    assert set(re.findall(r"(?<!\$)\$\{(\w+)", WRITTEN)) <= documented()
    assert {"DOMAIN", "TLS", "UPSTREAM"} == set(re.findall(r"\{\$(\w+)", CADDYFILE))


def test_no_secret_is_written_down_and_none_has_a_default() -> None:
    for name in re.findall(r"(\w*(?:PASSWORD|SECRET|TOKEN|KEY)\w*): (.*)", WRITTEN):
        assert name[1].startswith("${") or name[1] == '""', name
    assert not re.search(r"\$\{\w*(?:PASSWORD|SECRET|TOKEN|KEY)\w*:-", WRITTEN)
    for line in re.findall(r"^(?:# )?(?!LIMIT_)\w*(?:PASSWORD|SECRET|TOKEN|KEY)\w*=(.*)$", SAMPLE, re.MULTILINE):
        assert line == ""
    assert ".env" in (ROOT / ".dockerignore").read_text().split()


def test_a_service_waits_for_what_it_needs() -> None:
    for name in ("web", "worker", "gpu-worker"):
        assert SERVICES[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    for name, service in SERVICES.items():
        for needed, how in service.get("depends_on", {}).items():
            assert how["condition"] != "service_healthy" or "healthcheck" in SERVICES[needed], (name, needed)


def test_the_proxy_hides_what_is_for_those_inside_and_adds_no_header_of_its_own() -> None:
    assert "@inside path /metrics /healthz /readyz" in CADDYFILE
    assert "respond @inside 404" in CADDYFILE
    assert "max_size" not in CADDYFILE, "the limit of uploads is Concord's"
    assert not re.search(r"^\s*header\s", CADDYFILE, re.MULTILINE)
    assert "tls {$TLS}" in CADDYFILE


def test_the_proxy_buffers_whole_bodies_and_replies_but_no_uploads() -> None:
    """A thread of the web server waits for its client. Only Concord knows who may send files."""
    ways = re.findall(r"reverse_proxy (@\w+ )?\{\$UPSTREAM:web:8000\} \{\n(.+?)\n\t\}", CADDYFILE, re.DOTALL)
    assert "@uploads header Content-Type multipart/*" in CADDYFILE
    assert [(way, re.findall(r"request_buffers (\S+)", said)) for way, said in ways] == [
        ("@uploads ", []),
        ("", ["2560KiB"]),
    ]
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE == 2560 * 1024, "what it does not buffer, Concord refuses unread"
    assert all("import concord" in said for _, said in ways)
    assert re.findall(r"^\tresponse_buffers (\S+)$", CADDYFILE, re.MULTILINE) == ["2560KiB"]


def test_the_proxy_closes_slow_clients_and_gives_uploads_more_time() -> None:
    assert dict(re.findall(r"^\t\t\t(\w+) (\w+)$", CADDYFILE, re.MULTILINE)) == {
        "read_header": "15s",
        "read_body": "1m",
        "write": "10m",
        "idle": "2m",
    }
    [uploads] = re.findall(r"request_body @uploads \{\n(.+?)\n\t\}", CADDYFILE, re.DOTALL)
    assert dict(re.findall(r"(\w+_timeout) (\w+)", uploads)) == {"read_timeout": "30m", "write_timeout": "31m"}


@pytest.mark.parametrize("version", [(2, 6, 2), (2, 7, 0), (2, 10, 2)])
def test_the_drills_use_the_options_that_their_caddy_knows(version: tuple[int, ...]) -> None:
    text = caddyfile(8080, 8000, version, read_body="3s")
    assert "http://127.0.0.1:8080 {" in text
    assert text.count("reverse_proxy @uploads 127.0.0.1:8000") == 1
    assert "read_body 3s" in text
    assert "{$" not in text
    assert ("request_buffers" in text, "buffer_requests" in text) == (version >= (2, 7), version < (2, 7))
    assert ("request_body" in text) == (version >= (2, 10))


def test_the_proxy_compresses_no_reply_that_holds_a_secret() -> None:
    """Compression would reveal secrets by length if an attacker controls part of the reply (BREACH)."""
    assert re.findall(r"^\tencode (\S+)", CADDYFILE, re.MULTILINE) == ["@data"]
    [data] = re.findall(r"@data \{\n(.+?)\n\t\}", CADDYFILE, re.DOTALL)
    assert "method GET" in data
    for secret in ("/api/v1/session/*", "/api/v1/me/*", "/api/v1/take/*", "*/invitations/*", "*/participant-links/*"):
        assert secret in data


def test_the_proxy_closes_idle_connections_before_the_web_server_does() -> None:
    [seconds] = re.findall(r"^\t\tkeepalive (\d+)s$", CADDYFILE, re.MULTILINE)
    assert int(seconds) + 10 < importlib.import_module("config.gunicorn").keepalive


def test_models_that_the_gpu_worker_downloads_land_where_it_can_write() -> None:
    assert SERVICES["gpu-worker"]["environment"] == SERVICES["worker"]["environment"] | {
        "HF_HOME": "/data/hub",
        "EMAIL_HOST": "",
        "EMAIL_HOST_USER": "",
        "EMAIL_HOST_PASSWORD": "",
    }
    assert "data:/data" in SERVICES["gpu-worker"]["volumes"]


def test_the_gpu_worker_listens_where_wake_ups_for_models_are_sent() -> None:
    assert f"--queues={GPU}" in SERVICES["gpu-worker"]["command"]
    assert family(f"{GPU}.0123456789ab") == NEEDS_TORCH
