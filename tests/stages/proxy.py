"""Caddy in front of a web server on loopback, configured by the repository's Caddyfile."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from tests.stages.servers import Missing, apt_install

ROOT = Path(__file__).resolve().parents[2]
#: The first versions with `request_buffers` and `response_buffers`, and with timeouts of one request.
BUFFERS, TIMEOUTS = (2, 7), (2, 10)


def caddy() -> str:
    """Return the path of Caddy: the one in CADDY, an installed one, or Debian's package. Raises `Missing`."""
    program = os.environ.get("CADDY") or shutil.which("caddy")
    if not program and apt_install("caddy"):
        program = shutil.which("caddy")
    if not program:
        raise Missing("Caddy: none found and apt-get gave none; install it (apt-get install caddy), or set CADDY")
    return program


def version_of(program: str) -> tuple[int, ...]:
    """Return the version of Caddy, such as (2, 6, 2)."""
    output = subprocess.run([program, "version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"(\d+)\.(\d+)\.(\d+)", output)
    if match is None:
        raise Missing(f"Caddy: {program} does not print a version: {output!r}")
    return tuple(map(int, match.groups()))


def caddyfile(port: int, upstream: int, version: tuple[int, ...], **timeouts: str) -> str:
    """Return the repository's Caddyfile for plain HTTP on a loopback port, with the options of this version.

    ``timeouts`` replaces server timeouts by name: ``read_body="5s"``.
    """
    text = (ROOT / "Caddyfile").read_text(encoding="utf-8")
    text = text.partition("# The health check of")[0]
    text = text.replace("{$DOMAIN}", f"http://127.0.0.1:{port}").replace("\ttls {$TLS}\n", "\tbind 127.0.0.1\n")
    text = text.replace("{$UPSTREAM:web:8000}", f"127.0.0.1:{upstream}")
    # Without TLS, Caddy 2.10 waits for the first bytes of HTTP/2 without a timeout.
    text = text.replace("\tservers {\n", "\tservers {\n\t\tprotocols h1\n")
    for name, value in timeouts.items():
        text, count = re.subn(rf"^(\t+{name}) \S+$", rf"\1 {value}", text, flags=re.MULTILINE)
        assert count == 1, f"the Caddyfile has {count} timeouts named {name}"
    if version < TIMEOUTS:
        text = re.sub(r"^\trequest_body @uploads \{.*?^\t\}\n", "", text, flags=re.MULTILINE | re.DOTALL)
    if version < BUFFERS:
        text = re.sub(r"request_buffers \S+", "buffer_requests", text)
        text = re.sub(r"response_buffers (\S+)", r"buffer_responses\n\tmax_buffer_size \1", text)
    return text


def command(folder: Path, port: int, upstream: int, **timeouts: str) -> list[str]:
    """Return the command that starts Caddy on ``port`` in front of a web server on ``upstream``. Raises `Missing`."""
    program = caddy()
    path = folder / f"Caddyfile-{port}"
    path.write_text(caddyfile(port, upstream, version_of(program), **timeouts), encoding="utf-8")
    return [program, "run", "--config", str(path), "--adapter", "caddyfile"]
