"""Systems and versions: validation, hashes, and registration by a worker that can read the weights."""

from typing import Any

import pytest

from accounts.models import User
from api.problems import Conflict, Refused, TooMuch
from audit.models import Entry
from generation.backends.protocol import BackendError, PassingError
from generation.models import System, Version
from generation.systems.actions import create_system, make_version, request_version
from projects.jobs.running import run_job
from projects.models import Job, Project
from tests.generation.staged import StagedBackend

LIGHT: dict[str, Any] = {"backend": "staged", "model": {"weights": "w"}}
HEAVY: dict[str, Any] = {"backend": "staged", "model": {"weights": "w", "torch": True}}


@pytest.fixture
def system(project: Project, staged: StagedBackend, lead: User) -> System:
    return create_system(project=project, name=" BART ", description="From the paper.", by=lead)


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\0b", "BART"])
def test_a_system_name_must_be_present_short_and_unique(
    name: str, system: System, project: Project, lead: User
) -> None:
    assert system.name == "BART"
    with pytest.raises(Refused) as refused:
        create_system(project=project, name=name, description="", by=lead)
    assert [error["field"] for error in refused.value.errors] == ["name"]
    assert System.objects.count() == 1


def test_a_version_says_everything_and_the_same_again_is_the_same_version(system: System, lead: User) -> None:
    first = make_version(system=system, config=LIGHT, note="mine", by=lead)
    assert (first.number, first.backend, first.level) == (1, "staged", "proposition")
    assert first.config["decoding"] == {"seconds": 0.0, "batch": 4, "diary": ""}, "defaults are written out"
    assert first.facts == {"libraries": {"staged": "1.0"}}
    assert make_version(system=system, config=first.config, note="again", by=None) == first
    second = make_version(system=system, config=LIGHT | {"seed": 1}, by=lead)
    assert (second.number, second.hash == first.hash) == (2, False)
    entries = Entry.objects.order_by("pk").values_list("verb", "actor")
    assert list(entries) == [("register system", lead.pk), ("make version", lead.pk), ("make version", lead.pk)]


def test_other_library_versions_make_another_version(system: System, staged: StagedBackend, lead: User) -> None:
    first = make_version(system=system, config=LIGHT, by=lead)
    staged.release = "2.0"
    assert make_version(system=system, config=LIGHT, by=lead) != first


def test_the_hash_is_the_same_after_the_database_has_had_it(system: System, lead: User) -> None:
    from generation.backends.identity import hash_of

    made = make_version(system=system, config=LIGHT | {"decoding": {"seconds": 1e-7}}, by=lead)
    again = Version.objects.get(pk=made.pk)
    assert hash_of(again.config, again.facts) == made.hash
    assert make_version(system=system, config=again.config, by=lead) == made


@pytest.mark.parametrize(
    ("error", "problem"),
    [(BackendError("There is no such folder."), Refused), (PassingError("It is unavailable."), Conflict)],
)
def test_unreadable_models_are_reported(
    error: Exception, problem: type[Exception], system: System, staged: StagedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def facts(config: Any) -> Any:
        raise error

    monkeypatch.setattr(staged, "facts", facts)
    with pytest.raises(problem, match=str(error)):
        make_version(system=system, config=LIGHT, by=None)
    assert not Version.objects.exists()


def test_a_wrong_configuration_is_refused_before_any_worker_sees_it(system: System, lead: User) -> None:
    with pytest.raises(Refused) as refused:
        request_version(system=system, config=HEAVY | {"decoding": {"batch": 0}}, by=lead)
    assert refused.value.errors == [{"field": "decoding.batch", "message": "At least 1."}]
    with pytest.raises(Refused, match="300 characters"):
        request_version(system=system, config=HEAVY, note="x" * 301, by=lead)
    assert not Job.objects.exists()


def test_torch_versions_are_created_by_workers_with_torch(system: System, staged: StagedBackend, lead: User) -> None:
    assert isinstance(request_version(system=system, config=LIGHT, by=lead), Version)
    asked = request_version(system=system, config=HEAVY, note="heavy", by=lead)
    assert isinstance(asked, Job)
    assert (asked.kind, asked.queue) == ("make_version", "gpu")
    run_job(asked.pk)
    asked.refresh_from_db()
    made = system.versions.get(note="heavy")
    assert asked.result == {"version": made.pk, "number": 2, "hash": made.hash}
    assert made.created_by == lead


def test_a_repeated_request_returns_the_same_job(system: System, lead: User, settings: Any) -> None:
    settings.LIMITS = {**settings.LIMITS, "LIMIT_JOBS_OF_A_PERSON": 3}
    first = request_version(system=system, config=HEAVY, by=lead)
    assert request_version(system=system, config=HEAVY, by=lead) == first
    for note in ("second", "third"):
        request_version(system=system, config=HEAVY, note=note, by=lead)
    with pytest.raises(TooMuch, match="3 queued or running jobs per person"):
        request_version(system=system, config=HEAVY, note="fourth", by=lead)
    # A pending request is still answered, and other people can still request.
    assert request_version(system=system, config=HEAVY, by=lead) == first
    assert isinstance(request_version(system=system, config=HEAVY, note="another's", by=None), Job)
    run_job(first.pk)
    assert isinstance(request_version(system=system, config=HEAVY, note="fourth", by=lead), Job)


def test_a_worker_that_cannot_read_it_says_why(system: System, staged: StagedBackend, lead: User) -> None:
    asked = request_version(system=system, config=HEAVY, by=lead)

    def facts(config: Any) -> Any:
        raise BackendError("The folder has no model.safetensors.")

    staged.facts = facts  # type: ignore[method-assign]
    run_job(asked.pk)
    asked.refresh_from_db()
    assert isinstance(asked, Job)
    assert (asked.status, asked.attempts, asked.error) == ("failed", 1, "The folder has no model.safetensors.")
