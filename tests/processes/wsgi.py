"""The WSGI door with a failpoint: where the file named by FAILPOINT exists, the next answer is its last.

The process kills itself after the view has returned, and with it committed, and before a byte of the reply is sent.
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
        FAILPOINT.unlink()  # whoever removes it has it
    except FileNotFoundError:
        return False
    return True
