"""A plugin of pytest: who takes longest begins first, so that at the end nobody waits for one that began late.

xdist cuts the tests into as many stretches as it has processes, and who has done theirs takes from the ends of others'.
So every process has some of the longest at the beginning of its stretch.
"""

from typing import TypeVar

import pytest

Item = TypeVar("Item")
#: Live tests of half a minute and more, the longest first, by a part of their names; the seconds do not matter.
LONGEST = (
    "goes_forward_back_and_forward",
    "restarts_people_are_told_to_wait",
    "every_backend_through_a_worker",
    "older_backup_is_migrated_forward",
    "work_through_a_killed_server",
    "sixty_clients_share",
    "outlives_restarts_of_postgresql",
    "whatever_is_killed_no_answer_is_lost",
    "migration_that_is_killed",
    "backup_made_under_writers",
    "crowd_holds_on",
    "however_often_the_server_is_killed",
    "release_whose_worker_is_killed",
    "gets_exactly_k_answers",
    "import_whose_worker_is_killed",
    "import_makes_nobody_fail",
    "claimed_by_many",
    "thousand_guesses",
    "whose_workers_all_die",
    "release_without_room",
    "two_workers_share_a_run",
    "reliability_study_leaves",
    "gold_round_forms_gold",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    inputs: dict[str, int] = getattr(config, "workerinput", {"workercount": 1})
    items[:] = dealt(sorted(items, key=_rank), inputs["workercount"])


def _rank(item: pytest.Item) -> int:
    return next((i for i, part in enumerate(LONGEST) if part in item.name), len(LONGEST))


def dealt(items: list[Item], processes: int) -> list[Item]:
    """The same in stretches, one for each process: the first of all is the first of one, the next of the next."""
    return [item for first in range(processes) for item in items[first::processes]]
