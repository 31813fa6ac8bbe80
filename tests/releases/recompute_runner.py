"""Run `python -m measures.recompute FOLDER` with Python and NumPy but without Django.

Importing NumPy and SciPy takes longer than recomputing most folders. So one process imports them, and none of our
modules, and forks for each folder (`recompute`); `recompute_in_new_process` starts an interpreter as users do.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import runpy, sys
sys.modules["django"] = None
sys.argv = ["measures.recompute", sys.argv[1]]
runpy.run_module("measures.recompute", run_name="__main__")
"""
SERVE = """
import json, os, runpy, sys, traceback
sys.modules["django"] = None
import numpy, scipy.special

def repeat(folder):
    sys.argv = ["measures.recompute", folder]
    try:
        runpy.run_module("measures.recompute", run_name="__main__")
    except SystemExit as ending:
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
        return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

for line in sys.stdin:
    folder, *outputs = json.loads(line)
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, output in enumerate(outputs, start=1):
            os.dup2(os.open(output, os.O_WRONLY), number)
        status = repeat(folder)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def _bare() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "DATABASE", "DEBUG"))}


def recompute_in_new_process(folder: Path) -> tuple[int, str, str]:
    """Run the script in a new interpreter; return exit status, stdout and stderr."""
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=_bare(), capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@cache
def _served() -> "subprocess.Popen[str]":
    """The process that forks. It ends with this one, which holds the only end of the pipe."""
    command = [sys.executable, "-c", SERVE]
    return subprocess.Popen(command, cwd=ROOT, env=_bare(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def recompute(folder: Path) -> tuple[int, str, str]:
    """Run the script in a forked child; return exit status, stdout and stderr."""
    served = _served()
    assert served.stdin
    assert served.stdout
    with tempfile.NamedTemporaryFile("r") as said, tempfile.NamedTemporaryFile("r") as failed:
        served.stdin.write(json.dumps([str(folder), said.name, failed.name]) + "\n")
        served.stdin.flush()
        return int(served.stdout.readline()), said.read(), failed.read()
