#!/usr/bin/env python
"""The door to every command of Concord: `python manage.py help`."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    if sys.argv[1:2] == ["demo"]:
        # It runs on a machine without any settings: it keeps a key of its own, and its servers run with DEBUG off.
        os.environ.setdefault("DEBUG", "1")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)  # Ctrl-C, as shells count it


if __name__ == "__main__":
    main()
