"""The stages of `make test`: counts, summary, missing programs and lanes."""

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


def print_command(*lines: str) -> list[str]:
    return [sys.executable, "-c", f"print({chr(10).join(lines)!r})"]


@pytest.fixture(autouse=True)
def outside_ci(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
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
def test_results_of_pytest_and_vitest_are_counted(line: str, counts: tuple[int, int, int]) -> None:
    run = runs.Run()
    run.command(*print_command(line))
    assert (run.passed, run.failed, run.skipped) == counts


def test_a_command_that_fails_fails_its_stage_and_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        stages,
        "STAGES",
        {
            "broken": lambda run: run.command(sys.executable, "-c", "raise SystemExit(3)"),
            "after": lambda run: run.command(*print_command("5 passed in 0.1s")),
        },
    )
    assert stages.main([]) == 1
    output = capsys.readouterr().out
    assert "broken       FAILED" in output
    assert "after        ok" in output, "later stages run after a failure"
    assert output.endswith("\n5 passed, 1 failed, 0 skipped\n")


def test_a_stage_that_cannot_run_is_in_the_summary_and_fails_in_ci(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_browser(run: runs.Run) -> None:
        raise servers.Missing("a browser: none found")

    monkeypatch.setattr(
        stages,
        "STAGES",
        {
            "browser": without_browser,
            "sqlite": lambda run: run.command(*print_command("SKIPPED [2] tests/x.py:9: published file missing")),
        },
    )
    assert stages.main([]) == 0
    output = capsys.readouterr().out
    assert "!! NOT RUN:\n!!   stage browser: a browser: none found\n" in output
    assert "!!   SKIPPED [2] tests/x.py:9: published file missing\n" in output
    monkeypatch.setenv("CI", "true")
    assert stages.main([]) == 1
    assert stages.main(["sqlite"]) == 0


def test_an_unknown_stage_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert stages.main(["sqlight"]) == 2
    assert "Unknown stage: sqlight. Stages: style, types, imports" in capsys.readouterr().out


def test_tests_do_not_inherit_secrets_and_servers() -> None:
    assert not {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"} & set(runs.ENVIRONMENT)


@pytest.fixture
def nothing_installs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Simulate a machine on which the programs are missing and cannot be installed."""
    monkeypatch.setattr(servers, "apt_install", lambda *packages: False)
    monkeypatch.setattr(servers, "pip_install", lambda package: False)
    monkeypatch.setattr(servers, "_in_wheel", lambda package, name: None)
    monkeypatch.setattr(servers, "_playwright_chromium", lambda: None)
    monkeypatch.setattr(servers, "_postgres_tools", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.parametrize(
    ("find", "name"),
    [(servers.postgres_bin, "PostgreSQL"), (servers.redis_server, "Redis"), (servers.chromium, "a browser")],
)
@pytest.mark.usefixtures("nothing_installs")
def test_a_missing_program_is_named(find: Callable[[], object], name: str) -> None:
    with pytest.raises(servers.Missing, match=name):
        find()


def test_an_installed_program_is_preferred(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("redis-server", "google-chrome"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(servers, "apt_install", lambda *packages: pytest.fail(f"installed {packages}"))
    assert servers.redis_server() == os.fspath(tmp_path / "redis-server")
    assert servers.chromium() == os.fspath(tmp_path / "google-chrome")
    shutil.copy(tmp_path / "google-chrome", tmp_path / servers.SHELL)
    assert servers.chromium() == os.fspath(tmp_path / servers.SHELL), "the headless shell is preferred"


@pytest.mark.long
def test_a_live_test_is_retried_once(
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
    # Without plugins, because pytest starts four times.
    options = ("-c", os.devnull, "-p", "no:django", "-p", "no:hypothesispytest", str(tests))
    monkeypatch.setattr(stages, "STAGES", {"live": lambda run: run.live("live", *options)})
    assert stages.main([]) == 0
    output = capsys.readouterr().out
    assert "!! RUN TWICE: live: 1 failed, then passed when run again" in output
    assert output.endswith("\n2 passed, 0 failed, 0 skipped\n")

    tests.write_text("def test_never(): assert False\n")
    assert stages.main([]) == 1


def test_the_longest_tests_are_first_in_each_process() -> None:
    assert longest.interleave([9, 8, 7, 1, 1, 1, 1], 3) == [9, 1, 1, 8, 1, 7, 1]
    tests = " ".join(re.findall(r"^def (test_\w+)", "".join(path.read_text() for path in engine.alone()), re.MULTILINE))
    assert [part for part in longest.LONGEST if tests.count(part) != 1] == []


def test_lanes_run_in_parallel_and_each_line_has_the_name_of_its_stage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    met = threading.Barrier(2, timeout=20)
    monkeypatch.setattr(
        stages,
        "STAGES",
        {
            "style": lambda run: met.wait(),
            "postgres": lambda run: run.command(*print_command("3 passed in 0.1s")),
            "live": lambda run: met.wait() and None,
        },
    )
    assert stages.main([]) == 0
    output = capsys.readouterr().out
    assert "postgres:       3 passed in 0.1s" in output
    assert output.endswith("\n3 passed, 0 failed, 0 skipped\n")


def test_without_postgresql_all_quick_tests_run_on_sqlite(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> Path:
        raise servers.Missing("PostgreSQL: no initdb found")

    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(servers, "postgres_bin", missing)
    monkeypatch.setattr(templates, "sqlite", lambda run: {})
    monkeypatch.setattr(runs.Run, "pytest", lambda run, *arguments, **environment: calls.append(arguments))
    monkeypatch.setattr(runs.Run, "live", lambda run, *arguments, **environment: calls.append(arguments))
    stages.why_no_postgres.cache_clear()
    assert stages.main(["postgres", "sqlite", "live", "live_sqlite"]) == 0
    stages.why_no_postgres.cache_clear()
    assert any(stages.QUICK in arguments for arguments in calls)
    assert any(argument.startswith(stages.LIVE_TESTS) for arguments in calls for argument in arguments)
    output = capsys.readouterr().out
    assert "!!   stage postgres: PostgreSQL: no initdb found" in output
    assert "!!   stage live: on PostgreSQL. PostgreSQL: no initdb found" in output
