"""The release commands work with Concord's files alone, without any setting."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from releases.folders import standalone
from tests.releases.tampering import flip_gold
from tests.releases.test_folders import DIGEST, FIRST

ROOT = Path(__file__).resolve().parents[2]
APPS = [
    "accounts",
    "annotation",
    "api",
    "audit",
    "config",
    "evaluation",
    "generation",
    "measures",
    "operations",
    "projects",
    "releases",
    "sql",
]
NO_DJANGO = ("-S",)


@pytest.fixture(scope="module")
def concord(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Concord's files without ``.env`` and ``var/``."""
    folder = tmp_path_factory.mktemp("concord")
    shutil.copy(ROOT / "manage.py", folder)
    for app in APPS:
        shutil.copytree(ROOT / app, folder / app, ignore=shutil.ignore_patterns("__pycache__", "migrations"))
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIRST, tmp_path / "eye-1.0.0"))


def run(
    concord: Path, *arguments: str, python: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Return exit status, stdout and stderr."""
    command = [sys.executable, *python, "manage.py", *arguments]
    done = subprocess.run(command, cwd=concord, env=env or {}, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    assert not (concord / "var").exists() or not list((concord / "var").iterdir())
    return done.returncode, done.stdout, done.stderr


@pytest.mark.row(33)
def test_a_downloaded_release_is_verified_without_django(concord: Path, release: Path) -> None:
    status, said, wrong = run(concord, "verify_release", str(release), python=NO_DJANGO)
    assert (status, wrong) == (0, "")
    assert f"\nDigest: {DIGEST}\n" in said
    assert "Not checked: Database row and audit log: no database is configured, so only the folder" in said
    assert "Not checked: The published digest: pass it with --digest" in said
    assert said.endswith(": every file matches the manifest.\n")
    status, said, _ = run(concord, "verify_release", str(release), "--digest", DIGEST, python=NO_DJANGO)
    assert (status, said.splitlines()[-1]) == (0, f"{release} is the release, unchanged.")
    flip_gold(release)
    status, said, wrong = run(concord, "verify_release", str(release), "--digest", DIGEST, python=NO_DJANGO)
    assert (status, wrong) == (1, f"{release} differs from the release: 1 finding.\n")
    assert f"Found: the digest differs from the one given, {DIGEST}: this is another release, or it was altered" in said


@pytest.mark.row(33)
def test_a_release_can_be_verified_without_settings_or_database(concord: Path, release: Path) -> None:
    settings: dict[str, dict[str, str]] = {"(no settings: SECRET_KEY is missing": {}, "its manifest.": {"DEBUG": "1"}}
    for why, env in settings.items():
        status, said, wrong = run(concord, "verify_release", str(release), env=env)
        assert (status, wrong, f"Digest: {DIGEST}" in said) == (0, "", True)
        assert "no database is configured, so only the folder" in said
        assert why in said


def test_bad_input_is_reported_in_one_line_with_its_own_exit_status(
    concord: Path, release: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, said in (
        (["verify_release", "nowhere"], "nowhere is not a folder"),
        (["verify_release", str(release), "--digest", "abc"], "expected 64 hexadecimal digits"),
        (["verify_release"], "DIR"),
        (["diff_releases", str(release), str(tmp_path / "empty")], f"{tmp_path / 'empty'} is not a release"),
        (["diff_releases", "nowhere", str(release)], "nowhere is not a release"),
    ):
        status, out, wrong = run(concord, *arguments, python=NO_DJANGO)
        assert (status, out) == (standalone.WRONG, ""), arguments
        assert said in wrong.splitlines()[-1]
        with pytest.raises(CommandError, match=re.escape(said)) as refused:
            call_command(*arguments)
        assert refused.value.returncode in (1, standalone.WRONG)  # on a terminal argparse exits with 2


def test_two_downloaded_releases_are_compared(concord: Path, release: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(FIRST, tmp_path / "other"))
    flip_gold(other)
    status, said, _ = run(concord, "diff_releases", str(release), str(other), python=NO_DJANGO)
    assert status == 0
    assert "m3/level3.jsonl: 0 added, 0 removed, 1 changed (26258610_0)" in said.splitlines()
    assert "LICENSE: unchanged" in said.splitlines()
    (other / "m3" / "level3.jsonl").write_text("{}\n")
    status, _, wrong = run(concord, "diff_releases", str(release), str(other), python=NO_DJANGO)
    assert (status, "Verify both releases first" in wrong) == (standalone.WRONG, True)


def test_other_commands_still_name_missing_settings(concord: Path) -> None:
    command = [sys.executable, "manage.py", "release", "--help"]
    done = subprocess.run(command, cwd=concord, env={}, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "SECRET_KEY is missing" in done.stderr


def test_a_release_without_readable_rows_is_bad_input(release: Path, tmp_path: Path) -> None:
    from tests.releases.tampering import rewrite_manifest

    other = Path(shutil.copytree(FIRST, tmp_path / "other"))
    for content in (b'{"docid": 1', b"[]\n", b"\xff\n", b"[" * 100_000):
        (other / "m3" / "level3.jsonl").write_bytes(content)
        rewrite_manifest(other)
        with pytest.raises(standalone.BadInput, match="the rows are not in the format"):
            list(standalone.compared(release, other))


def test_the_bar_is_for_terminals(release: Path, capfd: pytest.CaptureFixture[str]) -> None:
    standalone.looked_at(release)
    assert capfd.readouterr().err == ""
    assert os.isatty(2) is False
