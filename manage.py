#!/usr/bin/env python
"""Run the management commands of Concord and of Django: `python manage.py help` lists them."""

import sys


def main() -> None:
    from config.console import STOPPED, prepare

    if (status := prepare(sys.argv[1:])) is not None:
        sys.exit(status)
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
