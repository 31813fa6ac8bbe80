"""The run of all checks itself: it counts what was said, and says loudly what was not run."""

import os
import re
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import engine
from tests.stages import __main__ as stages
from tests.stages import longest, servers, templates
from tests.stages import run as runs


def says(*lines: str) -> list[str]:
    return [sys.executable, "-c", f"print({chr(10).join(lines)!r})"]


@pytest.fixture(autouse=True)
def not_unattended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (stages, runs):
        monkeypatch.setattr(module, "DATA", tmp_path / "data")
    monkeypatch.delenv("CI", raising=False)


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("12 passed in 3.21s", (12, 0, 0)),
        ("2 failed, 10 passed, 1 skipped, 4 warnings in 0.5s", (10, 2, 1)),
        ("1 failed, 3 passed, 2 errors in 65.32s (0:01:05)", (3, 3, 0)),
        ("\x1b[32m\x1b[1m7 passed\x1b[0m\x1b[32m in 3.21s\x1b[0m", (7, 0, 0)),
        ("      Tests  41 passed (41)", (41, 0, 0)),
        (" Test Files  6 passed (6)", (0, 0, 0)),
        ("146 packages passed the audit", (0, 0, 0)),
    ],
)
def test_it_counts_what_pytest_and_vitest_say(line: str, counts: tuple[int, int, int]) -> None:
    run = runs.Run()
    run.command(*says(line))
    assert (run.passed, run.failed, run.skipped) == counts


def test_a_command_that_fails_fails_its_stage_and_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        stages,
        "STAGES",
        {
            "broken": lambda run: run.command(sys.executable, "-c", "raise SystemExit(3)"),
            "after": lambda run: run.command(*says("5 passed in 0.1s")),
        },
    )
    assert stages.main([]) == 1
    said = capsys.readouterr().out
    assert "broken       FAILED" in said
    assert "after        ok" in said, "a stage that fails keeps no other from being run"
    assert said.endswith("\n5 passed, 1 failed, 0 skipped\n")


def test_what_could_not_be_run_is_said_loudly_and_fails_where_nobody_reads(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_browser(run: runs.Run) -> None:
        raise servers.Missing("a browser: none found")

    monkeypatch.setattr(
        stages,
        "STAGES",
        {
            "browser": without_browser,
            "sqlite": lambda run: run.command(*says("SKIPPED [2] tests/x.py:9: the published file is not there")),
        },
    )
    assert stages.main([]) == 0
    said = capsys.readouterr().out
    assert "!! NOT RUN:\n!!   stage browser: a browser: none found\n" in said
    assert "!!   SKIPPED [2] tests/x.py:9: the published file is not there\n" in said
    monkeypatch.setenv("CI", "true")
    assert stages.main([]) == 1
    assert stages.main(["sqlite"]) == 0


def test_a_stage_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert stages.main(["sqlight"]) == 2
    assert "No such stage: sqlight. There are: style, types, imports" in capsys.readouterr().out


def test_secrets_and_servers_of_the_machine_do_not_reach_the_tests() -> None:
    assert not {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"} & set(runs.ENVIRONMENT)


@pytest.fixture
def nothing_installs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine without the programs, and without a way to get them."""
    monkeypatch.setattr(servers, "apt_install", lambda *packages: False)
    monkeypatch.setattr(servers, "pip_install", lambda package: False)
    monkeypatch.setattr(servers, "_in_wheel", lambda package, name: None)
    monkeypatch.setattr(servers, "_playwrights_own", lambda: None)
    monkeypatch.setattr(servers, "_postgres_tools", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize(
    ("find", "name"),
    [(servers.postgres_bin, "PostgreSQL"), (servers.redis_server, "Redis"), (servers.chromium, "a browser")],
)
@pytest.mark.usefixtures("nothing_installs")
def test_what_is_missing_is_named_with_what_was_tried(find: Callable[[], object], name: str) -> None:
    with pytest.raises(servers.Missing, match=name):
        find()


def test_a_program_of_the_machine_is_found_before_anything_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("redis-server", "google-chrome"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(servers, "apt_install", lambda *packages: pytest.fail(f"installed {packages}"))
    assert servers.redis_server() == os.fspath(tmp_path / "redis-server")
    assert servers.chromium() == os.fspath(tmp_path / "google-chrome")
    shutil.copy(tmp_path / "google-chrome", tmp_path / servers.SHELL)
    assert servers.chromium() == os.fspath(tmp_path / servers.SHELL), "what has no windows costs half"


def test_a_live_test_that_fails_once_is_run_again_and_named_and_one_that_fails_twice_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tests = tmp_path / "test_live.py"
    seen = tmp_path / "seen"
    tests.write_text(
        "from pathlib import Path\n"
        "def test_well(): pass\n"
        f"def test_busy():\n    seen = Path({str(seen)!r})\n    first = not seen.exists()\n    seen.touch()\n"
        "    assert not first\n"
    )
    # Four starts, of pytest alone: there is nothing of Django in them.
    options = ("-c", os.devnull, "-p", "no:django", "-p", "no:hypothesispytest", str(tests))
    monkeypatch.setattr(stages, "STAGES", {"live": lambda run: run.live("live", *options)})
    assert stages.main([]) == 0
    said = capsys.readouterr().out
    assert "!! RUN TWICE: live: 1 failed, and passed when run again alone: see above" in said
    assert said.endswith("\n2 passed, 0 failed, 0 skipped\n")

    tests.write_text("def test_never(): assert False\n")
    assert stages.main([]) == 1


def test_who_takes_longest_begins_first_in_each_of_the_processes() -> None:
    assert longest.dealt([9, 8, 7, 1, 1, 1, 1], 3) == [9, 1, 1, 8, 1, 7, 1]
    tests = " ".join(re.findall(r"^def (test_\w+)", "".join(path.read_text() for path in engine.alone()), re.MULTILINE))
    assert [part for part in longest.LONGEST if tests.count(part) != 1] == []


def test_stages_that_wait_run_beside_those_that_compute_and_each_line_says_whose_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    met = threading.Barrier(2, timeout=20)
    monkeypatch.setattr(
        stages,
        "STAGES",
        {
            "style": lambda run: met.wait(),
            "postgres": lambda run: run.command(*says("3 passed in 0.1s")),
            "live": lambda run: met.wait() and None,
        },
    )
    assert stages.main([]) == 0
    said = capsys.readouterr().out
    assert "postgres:       3 passed in 0.1s" in said
    assert said.endswith("\n3 passed, 0 failed, 0 skipped\n")


def test_without_postgresql_every_quick_test_runs_on_sqlite_and_the_summary_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> Path:
        raise servers.Missing("PostgreSQL: no initdb found")

    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(servers, "postgres_bin", missing)
    monkeypatch.setattr(templates, "sqlite", lambda run: {})
    monkeypatch.setattr(runs.Run, "pytest", lambda run, *arguments, **environment: asked.append(arguments))
    monkeypatch.setattr(runs.Run, "live", lambda run, *arguments, **environment: asked.append(arguments))
    stages.without_postgres.cache_clear()
    assert stages.main(["postgres", "sqlite", "live", "live_sqlite"]) == 0
    stages.without_postgres.cache_clear()
    assert any(stages.QUICK in arguments for arguments in asked)
    assert any(each.startswith(stages.ALONE) for arguments in asked for each in arguments)
    said = capsys.readouterr().out
    assert "!!   stage postgres: PostgreSQL: no initdb found" in said
    assert "!!   stage live: on PostgreSQL. PostgreSQL: no initdb found" in said
