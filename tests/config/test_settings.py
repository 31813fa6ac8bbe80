"""Settings of a server: what they refuse and turn on. Each case is a separate process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from config.secret_key import kept_secret_key
from tests.processes import fork_server

KEY = "q7Jm2xWc9Zt4Lr8Vn1Bd6Hs3Kf5Pg0Ty-aEuIo_RwQzXcVbNm8u4t"
#: Reads the settings without starting Django; `manage.py check` below does that.
READ = """
import json
from django.conf import settings as s
names = %r
print(json.dumps({name: getattr(s, name) for name in names}, default=str))
"""


def manage(tmp_path: Path, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    bare = {"PATH": os.environ["PATH"], "READ_DOT_ENV": "0", "DATA_DIR": str(tmp_path)}
    ended = fork_server.ran([sys.executable, *command], bare | environment)
    return subprocess.CompletedProcess(command, *ended)


def read(tmp_path: Path, *names: str, **environment: str) -> dict[str, Any]:
    done = manage(tmp_path, "-c", READ % (names,), DJANGO_SETTINGS_MODULE="config.settings", **environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"SECRET_KEY": ""},
        {"SECRET_KEY": "change-me"},
        {"SECRET_KEY": "short-but-random-q7Jm2xWc9Zt4"},
        {"SECRET_KEY": "only-for-development-never-for-a-server-that-others-reach"},
        {"SECRET_KEY": "django-insecure-" + KEY},
        {"SECRET_KEY": "abcabcabc" * 6},
    ],
    ids=["none", "empty", "sample", "short", "development", "insecure", "few characters"],
)
def test_a_server_without_a_key_of_its_own_does_not_start(tmp_path: Path, environment: dict[str, str]) -> None:
    done = manage(tmp_path, "manage.py", "check", **environment)
    assert done.returncode != 0
    assert "SECRET_KEY is missing, too short or a sample" in done.stderr


def test_commands_use_the_secret_key_of_the_demo_data(tmp_path: Path) -> None:
    key = kept_secret_key(tmp_path)
    assert read(tmp_path, "SECRET_KEY", "DEBUG") == {"SECRET_KEY": key, "DEBUG": False}
    assert read(tmp_path, "SECRET_KEY", SECRET_KEY=KEY) == {"SECRET_KEY": KEY}
    (tmp_path / "secret_key").write_text("short\n")
    assert manage(tmp_path, "manage.py", "check").returncode != 0


def test_a_server_with_a_key_starts_without_debug(tmp_path: Path) -> None:
    found = read(tmp_path, "DEBUG", "ALLOWED_HOSTS", SECRET_KEY=KEY)
    assert found == {"DEBUG": False, "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"]}


def test_the_sample_environment_is_refused_until_it_is_filled_in(tmp_path: Path) -> None:
    lines = (Path(settings.ROOT) / ".env.example").read_text().splitlines()
    sample = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    assert sample["SECRET_KEY"] == sample["POSTGRES_PASSWORD"] == ""
    assert manage(tmp_path, "manage.py", "check", **sample).returncode != 0
    assert manage(tmp_path, "manage.py", "check", **sample | {"SECRET_KEY": KEY}).returncode == 0


def of_compose() -> dict[str, str]:
    """Return what docker-compose.yml gives to the web service with a complete `.env`."""
    compose = yaml.safe_load((Path(settings.ROOT) / "docker-compose.yml").read_text())
    filled = {"DOMAIN": "concord.example.org", "POSTGRES_PASSWORD": "e0a1", "REDIS_PASSWORD": "b2c3", "SECRET_KEY": KEY}

    def fill(match: "re.Match[str]") -> str:
        return filled.get(match[1], match[2] or "")

    given = compose["services"]["web"]["environment"]
    return filled | {name: re.sub(r"\$\{(\w+)(?::[-?]([^}]*))?\}", fill, value) for name, value in given.items()}


def test_django_finds_nothing_to_warn_of_in_production(tmp_path: Path) -> None:
    # The database and folder do not exist; checks must not need them.
    done = manage(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "WARNING", **of_compose())
    assert done.returncode == 0, done.stderr
    assert "0 silenced" in done.stdout


def test_the_containers_run_in_production_settings(tmp_path: Path) -> None:
    names = ("DEBUG", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "HTTPS", "BEHIND_PROXY", "REDIS_URL", "DATA_DIR")
    assert read(tmp_path, *names, **of_compose()) == {
        "DEBUG": False,
        "ALLOWED_HOSTS": ["concord.example.org", "web", "localhost"],
        "CSRF_TRUSTED_ORIGINS": ["https://concord.example.org"],
        "HTTPS": True,
        "BEHIND_PROXY": True,
        "REDIS_URL": "redis://:b2c3@redis:6379/0",
        "DATA_DIR": "/data",
    }


HTTPS_AT = {"SECRET_KEY": KEY, "HTTPS": "1", "ALLOWED_HOSTS": "concord.example.org"}


def test_https_makes_cookies_secure_and_is_demanded(tmp_path: Path) -> None:
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS")
    assert all(read(tmp_path, *names, "SESSION_COOKIE_HTTPONLY", **HTTPS_AT).values())
    assert not any(read(tmp_path, *names, SECRET_KEY=KEY, HTTPS="0").values())


@pytest.mark.parametrize("hosts", ["", "*", "concord.example.org,*"])
@pytest.mark.parametrize("reached", ["HTTPS", "BEHIND_PROXY"])
def test_a_server_that_others_reach_must_say_under_which_names(tmp_path: Path, hosts: str, reached: str) -> None:
    done = manage(tmp_path, "manage.py", "check", SECRET_KEY=KEY, ALLOWED_HOSTS=hosts, **{reached: "1"})
    assert done.returncode != 0
    assert "ALLOWED_HOSTS must list the public host names" in done.stderr


OIDC = {"OIDC_ISSUER": "https://id.example.org", "OIDC_CLIENT_ID": "concord", "OIDC_CLIENT_SECRET": "s"}


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"LOG_FORMAT": "xml"}, "LOG_FORMAT must be one of"),
        ({"METRICS_TOKEN": "short"}, "METRICS_TOKEN is too short"),
        ({"METRICS_FROM": "10.0.0.0/8,everywhere"}, "METRICS_FROM: 'everywhere'"),
        (OIDC | {"OIDC_CLIENT_SECRET": ""}, "must be set together"),
        ({"OIDC_CLIENT_ID": "concord"}, "must be set together"),
        (OIDC | {"OIDC_ISSUER": "http://id.example.org"}, "must begin with https"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_an_invalid_setting_is_refused(tmp_path: Path, environment: dict[str, str], said: str) -> None:
    done = manage(tmp_path, "manage.py", "check", SECRET_KEY=KEY, **environment)
    assert done.returncode != 0
    assert said in done.stderr


CHECKED_AND_PLANNED = """
import django
from django.core.management import call_command
django.setup()
call_command("check", deploy=True, fail_level="WARNING")
call_command("migrate", plan=True)
"""


@pytest.mark.long
def test_an_identity_provider_adds_no_tables_and_no_warnings(tmp_path: Path) -> None:
    given = OIDC | of_compose() | {"DATABASE_URL": f"sqlite:///{tmp_path}/one.sqlite3"}
    done = manage(tmp_path, "-c", CHECKED_AND_PLANNED, DJANGO_SETTINGS_MODULE="config.settings", **given)
    assert done.returncode == 0, done.stderr
    assert "accounts.0001_squashed" in done.stdout
    assert "socialaccount" not in done.stdout
    assert "allauth" not in str(read(tmp_path, "INSTALLED_APPS", "MIDDLEWARE", SECRET_KEY=KEY))


ASK = """
import json, django
django.setup()
from django.test import Client
asked = [("/", {}), ("/healthz", {}), ("/admin/login/", {}), ("/", {"HTTP_X_FORWARDED_PROTO": "https"}),
         ("/", {"HTTP_HOST": "elsewhere.example.org"}),
         ("/static/app/index.html", {"HTTP_X_FORWARDED_PROTO": "https"})]
for address, headers in asked:
    reply = Client(HTTP_HOST="concord.example.org").get(address, **headers)
    print(json.dumps([reply.status_code, reply.headers.get("Location"), sorted(
        n for n in ("Strict-Transport-Security", "Content-Security-Policy", "X-Frame-Options") if n in reply.headers)]))
"""


def test_plain_http_is_sent_to_https_but_for_probes_from_inside(tmp_path: Path) -> None:
    (tmp_path / ".vite").mkdir()
    (tmp_path / ".vite" / "manifest.json").write_text('{"index.html": {"file": "assets/index.js"}}')
    (tmp_path / "index.html").write_text("<!doctype html><title>Vite's own</title>")
    done = manage(
        tmp_path,
        "-c",
        ASK,
        DJANGO_SETTINGS_MODULE="config.settings",
        FRONTEND_DIST=str(tmp_path),
        LOG_LEVEL="CRITICAL",
        **HTTPS_AT,
        BEHIND_PROXY="1",
    )
    assert done.returncode == 0, done.stderr
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply[0] for reply in replies] == [301, 200, 301, 200, 400, 200]
    assert replies[0][1] == "https://concord.example.org/"
    for guarded in (replies[3], replies[5]):
        assert guarded[2] == ["Content-Security-Policy", "Strict-Transport-Security", "X-Frame-Options"]


def test_the_browsable_api_is_not_there(tmp_path: Path) -> None:
    found = read(tmp_path, "REST_FRAMEWORK", **HTTPS_AT)["REST_FRAMEWORK"]
    assert found["DEFAULT_RENDERER_CLASSES"] == ["rest_framework.renderers.JSONRenderer"]
    assert found["DEFAULT_PARSER_CLASSES"] == ["api.parsers.CarefulJSONParser"]


def test_forwarded_headers_are_trusted_only_behind_a_proxy(tmp_path: Path) -> None:
    assert read(tmp_path, "SECURE_PROXY_SSL_HEADER", SECRET_KEY=KEY) == {"SECURE_PROXY_SSL_HEADER": None}
    behind = read(tmp_path, "SECURE_PROXY_SSL_HEADER", SECRET_KEY=KEY, BEHIND_PROXY="1", ALLOWED_HOSTS="c.example.org")
    assert behind == {"SECURE_PROXY_SSL_HEADER": ["HTTP_X_FORWARDED_PROTO", "https"]}


def test_sqlite_keeps_acknowledged_rows_and_waits_for_its_lock(tmp_path: Path) -> None:
    default = read(tmp_path, "DATABASES", SECRET_KEY=KEY)["DATABASES"]["default"]
    options = default["OPTIONS"]
    assert default["CONN_MAX_AGE"] == 600, "opening the file at every request took nearly half of its time"
    assert options["transaction_mode"] == "IMMEDIATE"
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000"):
        assert pragma in options["init_command"]


def test_another_database_comes_from_the_environment(tmp_path: Path) -> None:
    address = "postgres://u:p@db.example.org:5433/concord"
    default = read(tmp_path, "DATABASES", SECRET_KEY=KEY, DATABASE_URL=address)["DATABASES"]["default"]
    assert (default["HOST"], default["PORT"], default["NAME"]) == ("db.example.org", 5433, "concord")
    assert (default["CONN_HEALTH_CHECKS"], default["CONN_MAX_AGE"]) == (True, 600)
    assert not list(tmp_path.iterdir()), "beside PostgreSQL a web server may have a disk that it cannot write to"


def test_redis_carries_wake_ups_and_nothing_that_a_person_would_miss(tmp_path: Path) -> None:
    names = ("CELERY_BROKER_URL", "CACHES", "SESSION_ENGINE")
    found = read(tmp_path, *names, SECRET_KEY=KEY, REDIS_URL="redis://cache.example.org/0")
    assert found.pop("CELERY_BROKER_URL") == "redis://cache.example.org/0"
    assert "redis" not in json.dumps(found).lower()


def test_no_transaction_spans_a_request(tmp_path: Path) -> None:
    """On SQLite a transaction would hold the write lock for the whole request."""
    assert not read(tmp_path, "DATABASES", SECRET_KEY=KEY)["DATABASES"]["default"].get("ATOMIC_REQUESTS")


def test_wake_ups_are_json_acknowledged_late_and_taken_one_by_one(tmp_path: Path) -> None:
    code = (
        "import json\nfrom config import celery_app as a\nc = a.conf\n"
        "print(json.dumps([c.broker_url, c.accept_content, c.task_serializer, c.task_acks_late, "
        "c.task_reject_on_worker_lost, c.worker_prefetch_multiplier]))"
    )
    done = manage(tmp_path, "-c", code, SECRET_KEY=KEY, REDIS_URL="redis://cache.example.org/3")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["redis://cache.example.org/3", ["json"], "json", True, True, 1]


def test_endpoint_settings_are_read_and_checked_at_start(tmp_path: Path) -> None:
    named = {"GENERATION_ENDPOINTS": "lab=http://vllm:8000/v1 LAB_KEY", "GENERATION_NETWORKS": "172.16.0.0/12"}
    found = read(tmp_path, "GENERATION_ENDPOINTS", "GENERATION_NETWORKS", SECRET_KEY=KEY, LAB_KEY="sk-5f3a", **named)
    assert "vllm:8000" in str(found["GENERATION_ENDPOINTS"])
    assert "sk-5f3a" not in json.dumps(found)
    assert found["GENERATION_NETWORKS"] == ["172.16.0.0/12"]
    for wrong in ({"GENERATION_ENDPOINTS": "http://vllm/v1"}, {"GENERATION_NETWORKS": "172.16.0.0/99"}):
        done = manage(tmp_path, "manage.py", "check", SECRET_KEY=KEY, **wrong)
        assert done.returncode != 0
        assert "GENERATION_ENDPOINTS, GENERATION_NETWORKS: " in done.stderr
