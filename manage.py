#!/usr/bin/env python
"""Run the management commands of Concord and of Django: `python manage.py help` lists them."""

import os
import sys
from collections.abc import Sequence

#: The exit status of shells after Ctrl-C.
STOPPED = 130


def prepare(arguments: Sequence[str]) -> int | None:
    """Choose the settings. Return the exit status of a command that ran without them, or None."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if arguments[:1] == ["demo"]:
        # The demo needs no settings: it generates its secret key. Its servers run with DEBUG off.
        os.environ.setdefault("DEBUG", "1")
    return _run_without_settings(list(arguments)) if arguments else None


def _run_without_settings(arguments: list[str]) -> int | None:
    """Run a command for a downloaded release without Django, if the settings cannot be loaded.

    Return its exit status, or None if Django should run the command.
    """
    from releases.folders import standalone

    if arguments[0] not in standalone.COMMANDS:
        return None
    try:
        from django.conf import settings

        _ = settings.INSTALLED_APPS  # loads the settings
    except Exception as error:  # a release can be checked whatever is wrong with the settings
        return standalone.main(arguments, f"no settings: {str(error).splitlines()[0].split('. ')[0]}")
    return None


def main() -> None:
    if (status := prepare(sys.argv[1:])) is not None:
        sys.exit(status)
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
