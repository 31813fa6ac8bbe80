"""Benchmarks remove what they created, also when they are terminated."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks.places import ending_in_order

MAKE = """
import json, sys, time
from urllib.parse import urlsplit
from benchmarks.places import place
with place("reference", sys.argv[1]) as at:
    at.start()
    base = urlsplit(at.environment.get("DATABASE_URL", "")).path[1:]
    print(json.dumps({"folder": str(at.folder), "base": base, "pids": at.processes()}), flush=True)
    time.sleep(60)
"""


def is_there(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_benchmark_leaves_nothing_behind(number: int) -> None:
    given = os.environ.get("DATABASE_URL", "")
    server = given if given.startswith("postgres") else ""
    with subprocess.Popen(
        [sys.executable, "-c", MAKE, server], cwd=settings.ROOT, stdout=subprocess.PIPE, text=True
    ) as made:
        assert made.stdout
        told = json.loads(made.stdout.readline())
        assert Path(told["folder"]).is_dir()
        assert len(told["pids"]) >= 2
        assert all(is_there(pid) for pid in told["pids"])
        assert _bases(server, told["base"]) == bool(server)
        made.send_signal(number)
        assert made.wait(timeout=60) == 128 + number
    assert not Path(told["folder"]).exists()
    assert not [pid for pid in told["pids"] if is_there(pid)]
    assert _bases(server, told["base"]) == 0


def _bases(server: str, name: str) -> int:
    if not server:
        return 0
    import psycopg

    with psycopg.connect(server) as opened:
        row = opened.execute("SELECT count(*) FROM pg_database WHERE datname = %s", [name]).fetchone()
        assert row
        return int(row[0])


def test_signals_mean_afterwards_what_they_meant_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended, ending_in_order():
        signal.raise_signal(signal.SIGTERM)
    assert ended.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before
