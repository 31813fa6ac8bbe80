"""Deprecated name of `compute_ratings`, for one release."""

from typing import Any

from .compute_ratings import Command as ComputeRatingsCommand


class Command(ComputeRatingsCommand):
    def execute(self, *args: Any, **options: Any) -> str | None:
        self.stderr.write(
            "The command `reckon_ratings` is now `compute_ratings`. The old name will be removed in the next release."
        )
        return super().execute(*args, **options)
