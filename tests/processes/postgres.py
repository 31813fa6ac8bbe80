"""A PostgreSQL of a test's own, that may be restarted, killed and starved of connections."""

import os
import pwd
import subprocess
from pathlib import Path

from tests.stages.servers import _unprivileged, free_port, postgres_bin


class Postgres:
    """One cluster in one folder. Not durable against a power cut (no fsync), durable against everything done here."""

    #: An ordinary account: connections kept back for superusers are not for it.
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
        """What a data base of another server holds, in place of migrating an empty one; False without pg_dump."""
        if not (self._programs / "pg_dump").exists():
            return False
        dump = self.home / "template.sql"
        self._run("pg_dump", "--no-owner", "--no-privileges", "--file", dump, "--dbname", url)
        self._run("psql", "-q", "-v", "ON_ERROR_STOP=1", "--single-transaction", "--file", dump, "--dbname", self.url)
        return True

    def start(self) -> None:
        self._ctl("start")

    def stop(self, mode: str = "fast") -> None:
        """``fast`` rolls back what is under way and ends in order; ``immediate`` is a crash."""
        self._ctl("stop", "-m", mode)

    def restart(self, mode: str) -> None:
        self._ctl("restart", "-m", mode)

    def _ctl(self, *what: str) -> None:
        self._run("pg_ctl", "-D", self._data, "-l", self.home / "log", "-w", "-t", "60", *what)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._programs / program), *map(str, arguments)]
        # No pipes: a server that pg_ctl started would hold them open.
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
