"""Plant each fault in a copy of the tree and report which test finds it.

python -m tests.planted [NAME...]       with the stages of `make test ONLY=changed`
python -m tests.planted --stages "sqlite postgres" [NAME...]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from .faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parents[2]
#: Installed and built, and too large to copy.
LINKED = (".venv", "frontend/node_modules")
#: Copied, because a run may write it: a fault in a migration creates another template.
COPIED = ("frontend/dist", ".cache/templates")
#: How many of the nearest test modules are tried before all that the change affects.
NEAREST = "14"
FOUND = re.compile(r"^\s*(?:(?:FAILED|ERROR) (tests/\S+)|FAIL\s+(\S.*)|(error TS.*|.* FAILED: .*))", re.MULTILINE)


def copy(to: Path) -> None:
    """Copy the working tree, committed or not, as a repository with one commit."""
    every = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(every, cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)
    git = ["git", "-c", "user.name=planted", "-c", "user.email=planted@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "The tree without a fault"]):
        subprocess.run([*git, *command], cwd=to, check=True)
    # .gitignore names folders, and a link is none.
    (to / ".git" / "info" / "exclude").write_text("\n".join(LINKED))
    for name in LINKED:
        if (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            (to / name).symlink_to((ROOT / name).resolve())
    for name in COPIED:
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, to / name)
    if (ROOT.parent / "shared").exists():
        (to.parent / "shared").symlink_to((ROOT.parent / "shared").resolve())


def plant(fault: Fault, where: Path) -> None:
    file = where / fault.file
    text = file.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, f"{fault.name}: its text is not in {fault.file} once; mend the list"
    file.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


def found(fault: Fault, stages: Sequence[str], log: Path) -> list[str]:
    """Return the tests that find the fault."""
    with tempfile.TemporaryDirectory(prefix="concord-planted-", ignore_cleanup_errors=True) as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        copy(tree)
        plant(fault, tree)
        for nearest in (NEAREST, "0") if stages == ["changed"] else ("0",):
            with log.open("w") as out:
                code = run(tree, stages, out, nearest)
            if code:
                said = FOUND.findall(re.sub(r"\x1b\[[0-9;]*m", "", log.read_text(errors="replace")))
                return ["".join(filter(None, each)) for each in said] or [f"something: see {log}"]
    return []


def run(tree: Path, stages: Sequence[str], out: IO[str], nearest: str) -> int:
    python = tree / ".venv" / "bin" / "python"
    command = [str(python if python.exists() else sys.executable), "-m", "tests.stages", *stages]
    environment = os.environ | {"PYTEST_ADDOPTS": "-x", "SINCE": "HEAD", "NEAREST": nearest}
    return subprocess.run(
        command, cwd=tree, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False
    ).returncode


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__)
    parser.add_argument("--stages", default="changed")
    parser.add_argument("--logs", default=tempfile.gettempdir())
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args(arguments)
    known = {fault.name: fault for fault in FAULTS}
    if unknown := set(given.names) - set(known):
        print(f"No such fault: {', '.join(sorted(unknown))}. There are: {', '.join(known)}.")
        return 2
    missed = []
    for name in given.names or list(known):
        started = time.monotonic()
        by = found(known[name], given.stages.split(), Path(given.logs) / f"planted-{name}.log")
        print(f"| {name} | {by[0] if by else 'NOT FOUND'} | {time.monotonic() - started:.0f} s |", flush=True)
        missed += [] if by else [name]
    print(f"{len(missed)} not found{': ' + ', '.join(missed) if missed else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
