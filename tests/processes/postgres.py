"""A PostgreSQL server for one test, which may be restarted, killed, and run out of connections."""

import os
import pwd
import subprocess
from pathlib import Path

from tests.stages.servers import _unprivileged, free_port, postgres_bin


class Postgres:
    """One cluster in a folder. It runs without fsync, which only matters at a power cut."""

    #: Not a superuser, for whom PostgreSQL reserves connections.
    USER, NAME = "concord", "concord"

    def __init__(self, folder: Path, *, max_connections: int = 60) -> None:
        self.home, self.port = folder, free_port()
        self._programs, self._user = postgres_bin(), _unprivileged()
        self._data = folder / "data"
        if self._user:
            os.chown(folder, pwd.getpwnam(self._user).pw_uid, -1)
        self._run(
            "initdb", "-D", self._data, "-U", "root", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C.UTF-8"
        )
        with (self._data / "postgresql.conf").open("a") as conf:
            conf.write(
                f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{folder}'\n"
                f"fsync = off\nmax_connections = {max_connections}\n"
            )
        self.start()
        for statement in (f"CREATE ROLE {self.USER} LOGIN", f"CREATE DATABASE {self.NAME} OWNER {self.USER}"):
            self._run("psql", "-h", folder, "-p", self.port, "-U", "root", "-d", "postgres", "-q", "-c", statement)

    @property
    def url(self) -> str:
        return f"postgres://{self.USER}@127.0.0.1:{self.port}/{self.NAME}"

    def take_over(self, url: str) -> bool:
        """Copy a migrated database of another server; return False without pg_dump."""
        if not (self._programs / "pg_dump").exists():
            return False
        dump = self.home / "template.sql"
        self._run("pg_dump", "--no-owner", "--no-privileges", "--file", dump, "--dbname", url)
        self._run("psql", "-q", "-v", "ON_ERROR_STOP=1", "--single-transaction", "--file", dump, "--dbname", self.url)
        return True

    def start(self) -> None:
        self._ctl("start")

    def stop(self, mode: str = "fast") -> None:
        """``fast`` rolls back transactions and shuts down; ``immediate`` is a crash."""
        self._ctl("stop", "-m", mode)

    def restart(self, mode: str) -> None:
        self._ctl("restart", "-m", mode)

    def _ctl(self, *what: str) -> None:
        self._run("pg_ctl", "-D", self._data, "-l", self.home / "log", "-w", "-t", "60", *what)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._programs / program), *map(str, arguments)]
        # No pipes: the server that pg_ctl starts would keep them open.
        with (self.home / "setup.log").open("ab") as out:
            done = subprocess.run(
                command,
                user=self._user,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                check=False,
                timeout=120,
            )
        assert done.returncode == 0, (program, (self.home / "setup.log").read_text(errors="replace")[-1500:])
