"""Database URLs round-trip: same server, account and options."""

from typing import Any

import pytest
from django.db import DEFAULT_DB_ALIAS, connections

from config.settings import data_base
from sql import expressions

ADDRESSES = (
    "postgres://u:p%40ss%2Fword@db.example.org:5433/concord",
    "postgres://u@db.example.org/concord?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem",
    "postgres://u@/concord?host=%2Frun%2Fpostgresql&port=5434",
    "postgres:////run/postgresql/concord",
)


def read(address: str, monkeypatch: pytest.MonkeyPatch, **environment: str) -> dict[str, Any]:
    for name, value in {"DATABASE_URL": address, **environment}.items():
        monkeypatch.setenv(name, value)
    settings = data_base()
    return {name: settings[name] for name in ("USER", "PASSWORD", "HOST", "NAME", "OPTIONS")} | {
        "PORT": str(settings["PORT"])
    }


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_second_database_is_reached_as_the_first(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read(address, monkeypatch)
    monkeypatch.setattr(connections[DEFAULT_DB_ALIAS], "settings_dict", first)
    assert read(expressions.database_url("scratch"), monkeypatch) == first | {"NAME": "scratch"}


def test_all_programs_read_the_socket_from_the_database_url(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(ADDRESSES[2], monkeypatch)
    assert (found["HOST"], found["PORT"], found["OPTIONS"]) == ("/run/postgresql", "5434", {})


def test_pooled_connections_keep_the_tls_options(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(ADDRESSES[1], monkeypatch, DB_CONNECTIONS="4")
    assert found["OPTIONS"]["sslmode"] == "verify-full"
    assert found["OPTIONS"]["pool"]["max_size"] == 4
