"""A pytest plugin that starts the longest tests first, so that a run does not end with one process at work.

With ``--dist worksteal`` xdist gives each process one contiguous part of the tests, and idle processes take from the
end of other parts. This plugin puts some of the longest tests at the beginning of each part.
"""

from typing import TypeVar

import pytest

Item = TypeVar("Item")
#: Parts of the names of live tests that take 30 s or more, the longest first.
LONGEST = (
    "restarts_people_wait",
    "every_backend_through_a_worker",
    "older_backup_is_migrated_forward",
    "works_through_a_killed_server",
    "sixty_clients_share",
    "outlives_restarts_of_postgresql",
    "random_faults_violate_no_invariant",
    "migration_that_is_killed",
    "backup_made_under_writers",
    "crowd_holds_on",
    "however_often_the_server_is_killed",
    "release_whose_worker_is_killed",
    "give_a_unit_exactly_k_answers",
    "import_whose_worker_is_killed_while",
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
    items[:] = interleave(sorted(items, key=_rank), inputs["workercount"])


def _rank(item: pytest.Item) -> int:
    return next((i for i, part in enumerate(LONGEST) if part in item.name), len(LONGEST))


def interleave(items: list[Item], processes: int) -> list[Item]:
    """Return the items in one part per process, dealing them to the parts in turn."""
    return [item for first in range(processes) for item in items[first::processes]]
