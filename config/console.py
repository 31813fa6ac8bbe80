"""The ``concord`` command: the management commands of Concord, with completion and errors of one line."""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from manage import STOPPED, prepare

if TYPE_CHECKING:
    from django.core.management.base import BaseCommand

#: Wrong arguments, as argparse exits.
USAGE = 2
#: Commands whose name here is not that of their module.
RENAMED = {"import": "import_data"}
#: Commands that no one types: used by servers and tests, or deprecated.
HIDDEN = ("reckon_ratings", "robot", "seed")
GROUPS = {
    "annotation": "Corpus",
    "projects": "Annotation",
    "generation": "Systems, scores and training",
    "evaluation": "Ratings",
    "releases": "Releases",
    "operations": "Server",
    "config": "Server",
    "accounts": "Server",
    "audit": "Server",
}
SHELLS = ("bash", "zsh", "tcsh")
HELP = """usage: concord COMMAND [ARGUMENTS]

{commands}

concord COMMAND --help explains a command. concord completion {shells} prints a completion script for the shell.
Django's commands, such as concord migrate, work too."""


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run a command and return its exit status. A failure is one line on stderr; --traceback adds where it was."""
    from django.core.management.base import CommandError
    from django.db import DatabaseError

    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:], "--help"]
    shown = arguments[0] if arguments else ""
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:
        # The reader of a pipe, such as head, has ended. Otherwise Python would report it again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if "--traceback" in arguments:
            raise
        if isinstance(error, CommandError):
            return _fail(shown, str(error), error.returncode)
        first = next(iter(str(error).strip().splitlines()), "").rstrip(".")
        hint = " Is the database running and migrated (concord migrate)?" if isinstance(error, DatabaseError) else ""
        return _fail(shown, f"{type(error).__name__}: {first}.{hint} --traceback shows where it failed.", 1)


def _fail(shown: str, message: str, status: int) -> int:
    shown = shown if shown.isprintable() else repr(shown)
    print(f"concord {shown}: {message}" if shown else f"concord: {message}", file=sys.stderr)
    return status


def _run(arguments: list[str]) -> int:
    import django
    from django.apps import apps

    name = module_of(arguments[0]) if arguments else "--help"
    if (status := prepare([name, *arguments[1:]])) is not None:
        return status
    if not apps.ready:
        django.setup()
    if name in ("--help", "-h"):
        print(HELP.format(commands="\n".join(_listed()), shells="|".join(SHELLS)))
        return 0
    if name == "completion":
        return _completion(arguments[1:])
    return _execute(name, arguments[0], arguments[1:])


def _execute(name: str, shown: str, arguments: list[str]) -> int:
    from django.core.management import get_commands, load_command_class
    from django.core.management.base import CommandError

    commands = get_commands()
    if name not in commands:
        near = difflib.get_close_matches(shown, [_shown(each) for each in commands], 1)
        hint = f" Did you mean {near[0]}?" if near else " concord help lists all."
        raise CommandError(f"There is no such command.{hint}", returncode=USAGE)
    command = load_command_class(commands[name], name)
    if commands[name] == "django.core":
        command.run_from_argv(["concord", name, *arguments])
        return 0
    parser = command.create_parser("concord", shown)
    try:
        options = vars(parser.parse_args(arguments))
    except CommandError as error:
        message = str(error).removeprefix("Error: ")
        raise CommandError(f"{message}. See concord {shown} --help.", returncode=USAGE) from None
    command.execute(*options.pop("args", ()), **options)
    return 0


def module_of(shown: str) -> str:
    return RENAMED.get(shown, shown if shown.startswith("-") else shown.replace("-", "_"))


def _shown(name: str) -> str:
    return next((shown for shown, module in RENAMED.items() if module == name), name.replace("_", "-"))


def _own_commands() -> Iterator[tuple[str, str]]:
    """Yield the app and the name of each of Concord's commands, in the order of the groups."""
    from django.core.management import get_commands

    commands = get_commands()
    for app in GROUPS:
        for name in sorted(commands, key=_shown):
            if commands[name] == app and name not in HIDDEN:
                yield app, name


def _listed() -> Iterator[str]:
    from django.core.management import load_command_class

    group, width = "", max(shutil.get_terminal_size((100, 24)).columns - 19, 40)
    for app, name in _own_commands():
        if GROUPS[app] != group:
            group = GROUPS[app]
            yield f"\n{group}" if app != next(iter(GROUPS)) else group
        text = textwrap.shorten(_summary(load_command_class(app, name)), width, placeholder=" ...")
        yield f"  {_shown(name):<16}{text}"


def _summary(command: BaseCommand) -> str:
    return command.help.partition(". ")[0].rstrip(".")


def _completion(arguments: list[str]) -> int:
    """Print a completion script with all commands, options, choices and files."""
    import shtab
    from django.core.management import load_command_class
    from django.core.management.base import CommandError

    if len(arguments) != 1 or arguments[0] not in SHELLS:
        raise CommandError(f"Name the shell: {', '.join(SHELLS)}.", returncode=USAGE)
    root = argparse.ArgumentParser("concord")
    parsers = root.add_subparsers()
    for app, name in _own_commands():
        command = load_command_class(app, name)
        parser = command.create_parser("concord", _shown(name), add_help=False)
        for action in parser._actions:
            if action.type is Path:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        # shtab leaves out commands without help.
        parsers.add_parser(_shown(name), parents=[parser], add_help=False, help=_summary(command))
    print(shtab.complete(root, arguments[0]))
    return 0
