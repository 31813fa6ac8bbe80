#!/usr/bin/env python
"""The door to every command of Concord: `python manage.py help`."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["demo"]:
        # It runs on a machine without any settings: it keeps a key of its own, and its servers run with DEBUG off.
        os.environ.setdefault("DEBUG", "1")
    if sys.argv[1:2] and (status := _anywhere(sys.argv[1:])) is not None:
        sys.exit(status)
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)  # Ctrl-C, as shells count it


def _anywhere(arguments: list[str]) -> int | None:
    """Commands for whoever has downloaded a release run without settings, data base or Django where there are none.
    The exit status; None where Django can take over."""
    from releases.folders import standalone

    if arguments[0] not in standalone.COMMANDS:
        return None
    try:
        from django.conf import settings

        _ = settings.INSTALLED_APPS  # reads them
    except Exception as error:  # whatever is wrong with settings is no matter of a release
        return standalone.main(arguments, f"no settings: {str(error).splitlines()[0].split('. ')[0]}")
    return None


if __name__ == "__main__":
    main()
