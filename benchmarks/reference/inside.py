"""`python -m benchmarks.reference.inside VERB JSON`: run a function with the reference app and its database."""

import json
import sys
from typing import Any

import django

BATCH = 5_000


def grow(units: int, texts: list[str]) -> None:
    """Create as many texts as Concord has units, in a round without annotators."""
    from benchmarks.reference.models import Task

    for start in range(0, units, BATCH):
        Task._default_manager.bulk_create(
            Task(round=0, text=texts[n % len(texts)]) for n in range(start, min(start + BATCH, units))
        )


def people(count: int) -> list[str]:
    """Create users and return their session keys."""
    from django.contrib.auth.models import User
    from django.test import Client

    keys = []
    for n in range(count):
        client = Client()
        client.force_login(User.objects.create_user(f"a{n}"))  # type: ignore[arg-type]
        keys.append(client.cookies["sessionid"].value)
    return keys


def open_round(number: int, units: int, texts: list[str], people: int) -> int:
    from benchmarks.reference.models import Task

    for start in range(0, units, BATCH):
        Task._default_manager.bulk_create(
            Task(round=number, text=texts[n % len(texts)]) for n in range(start, min(start + BATCH, units))
        )
    return number


def stored(round: int) -> list[str]:
    from benchmarks.reference.models import Annotation

    return [str(pk) for pk in Annotation._default_manager.filter(task__round=round).values_list("pk", flat=True)]


def main() -> None:
    django.setup()
    verbs = {f.__name__: f for f in (grow, people, open_round, stored)}
    given: dict[str, Any] = json.load(sys.stdin)
    json.dump(verbs[sys.argv[1]](**given), sys.stdout)


if __name__ == "__main__":
    main()
