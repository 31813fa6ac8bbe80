"""WSGI entry point with a failpoint: if the file FAILPOINT exists, the process kills itself at the next answer.

This happens after the view has returned and its transaction is committed, but before the reply is sent.
"""

import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from config.wsgi import application as concord

FAILPOINT = Path(os.environ["FAILPOINT"])


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    reply: Iterable[bytes] = concord(environ, start_response)
    if environ["REQUEST_METHOD"] == "PUT" and "/answers/" in environ["PATH_INFO"] and _armed():
        os.kill(os.getpid(), signal.SIGKILL)
    return reply


def _armed() -> bool:
    try:
        FAILPOINT.unlink()  # the process that removes it is the one that dies
    except FileNotFoundError:
        return False
    return True
