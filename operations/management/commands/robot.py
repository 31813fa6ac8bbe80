"""Deprecated name of `simulate`, for one release."""

from typing import Any

from .simulate import Command as SimulateCommand


class Command(SimulateCommand):
    def execute(self, *args: Any, **options: Any) -> str | None:
        self.stderr.write("The command `robot` is now `simulate`. The old name will be removed in the next release.")
        return super().execute(*args, **options)
