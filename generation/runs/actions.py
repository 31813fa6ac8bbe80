"""Actions on runs: start, stop, resume and retry runs, and embargo their outputs."""

from collections.abc import Callable, Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from projects.models import Member

from ..backends.identity import backend_of
from ..models import Embargo, ItemStatus, Run, RunPurpose, RunStatus, Version
from ..probing import actions as probing_actions
from .chunks import BEGIN, create_items, make_items
from .concurrency import queue_chunks, stop, withdraw_stop_requests

MAX_CONCURRENCY = 64
#: Returns the reason why a run's embargoes cannot be lifted, or an empty string. Other apps register these checks.
EmbargoCheck = Callable[[Run], str]
_embargo_checks: list[EmbargoCheck] = []


def register_embargo_check(reason: EmbargoCheck) -> None:
    """Register a check that can prevent lifting embargoes."""
    _embargo_checks.append(reason)


def embargo_reason(run: Run) -> str:
    """Return the reason why the embargoes of a run cannot be lifted now, or an empty string."""
    return next(filter(None, (get_reason(run) for get_reason in _embargo_checks)), "")


def start_run(
    *,
    version: Version,
    by: User | None,
    units: Sequence[int] | None = None,
    purpose: str = RunPurpose.SUMMARIES,
    concurrency: int = 2,
) -> Run:
    """Start a run of a version over all units of its level, or over ``units``.

    For a run over all units, the chunks create the items. ``concurrency`` is the maximum number of concurrent workers.
    Raise `Conflict` while the version has a running run for the same purpose. Raise `Refused` if there are no units, or
    if the backend does not support the purpose.
    """
    project = version.system.project
    work = probing_actions.get(purpose)
    if reason := work.refusal(backend_of(version.config)):
        raise Refused(reason)
    if not 1 <= concurrency <= MAX_CONCURRENCY:
        raise Refused.field("concurrency", f"Must be from 1 to {MAX_CONCURRENCY}.")
    unit_positions = work.unit_positions(project, version.level)
    chosen = None if units is None else _select_units([unit for _, _, unit in unit_positions if unit], units)
    count = unit_positions.count() if chosen is None else len(chosen)
    if not count:
        raise Refused("Select at least one unit.")
    try:
        with transaction.atomic():
            run = Run.objects.create(
                version=version,
                purpose=purpose,
                started_by=by,
                concurrency=concurrency,
                units_count=count,
                item_offset=BEGIN if chosen is None else None,
                skipped=work.skipped(project, version.level) if chosen is None else {},
            )
            _extend_embargoes(run, by)
            if chosen is None:
                create_items(run)
            else:
                make_items(run, chosen)
            _log("start run", run, by, {"version": version.hash, "purpose": purpose, "items": count})
            queue_chunks(run)
    except IntegrityError as error:
        raise Conflict("A run of this version is already in progress: stop it, or wait until it ends.") from error
    return run


def _select_units(available: Sequence[int], units: Sequence[int]) -> list[int]:
    wanted = set(units)
    if unavailable := wanted - set(available):
        raise Refused.field("units", f"{len(unavailable)} of the units do not belong to this project and level.")
    return [unit for unit in available if unit in wanted]


def stop_run(*, run: Run, by: User | None) -> Run:
    """Stop a run. Finished items are kept, and a batch in progress is stored if it is completed."""
    with transaction.atomic():
        if not stop(run, ""):
            raise Conflict("This run is not in progress.")
        _log("stop run", run, by, None)
    run.refresh_from_db()
    return run


def resume_run(*, run: Run, by: User | None) -> Run:
    """Resume a stopped run with the items that are still waiting."""
    return _restart(run, by, "resume run", (RunStatus.STOPPED,), "This run is not stopped.")


def retry_failed(*, run: Run, by: User | None) -> Run:
    """Retry the failed items of a run that has ended, and continue with those that are still waiting."""
    if not run.items.filter(status=ItemStatus.FAILED).exists():
        raise Conflict("No item of this run has failed.")
    end_statuses = (RunStatus.STOPPED, RunStatus.DONE)
    return _restart(
        run, by, "retry failed items", end_statuses, "This run is still in progress: try again when it has ended."
    )


def _restart(run: Run, by: User | None, verb: str, from_statuses: Sequence[RunStatus], refusal: str) -> Run:
    withdraw_stop_requests(run)
    try:
        with transaction.atomic():
            if not any(
                _change_status(run, status, RunStatus.RUNNING, error="", finished_at=None) for status in from_statuses
            ):
                raise Conflict(refusal)
            run.items.filter(status=ItemStatus.WAITING, attempts__gt=0).update(attempts=0)
            if verb == "retry failed items":
                run.items.filter(status=ItemStatus.FAILED).update(
                    status=ItemStatus.WAITING, error="", attempts=0, finished_at=None, job=None
                )
            _log(verb, run, by, {"waiting": run.items.filter(status=ItemStatus.WAITING).count()})
            queue_chunks(run)
    except IntegrityError as error:
        raise Conflict("Another run of this version is in progress: stop it, or wait until it ends.") from error
    run.refresh_from_db()
    return run


def _change_status(run: Run, from_status: RunStatus, to_status: RunStatus, **fields: object) -> bool:
    return bool(Run.objects.filter(pk=run.pk, status=from_status).update(status=to_status, **fields))


def embargo_run(*, run: Run, members: Sequence[Member], by: User | None) -> list[Embargo]:
    """Embargo a run's outputs for members until the embargo is lifted. Existing embargoes are kept."""
    project = run.version.system.project_id
    if any(member.project_id != project for member in members):
        raise Refused.field("members", "Everyone must be a member of this project.")
    with transaction.atomic():
        embargoed = set(run.embargoes.active().values_list("member_id", flat=True))
        added = [member for member in dict.fromkeys(members) if member.pk not in embargoed]
        Embargo.objects.bulk_create([Embargo(run=run, member=member) for member in added], ignore_conflicts=True)
        if added:
            _log("embargo run", run, by, {"people": [member.pseudonym for member in added]})
    return list(run.embargoes.active().select_related("member"))


def _extend_embargoes(run: Run, by: User | None) -> None:
    """Embargo a new run for the members for whom the version's earlier runs are embargoed: it may produce the same
    texts.
    """
    if run.purpose == RunPurpose.SUMMARIES:
        embargoed = Embargo.objects.active().filter(run__version=run.version_id).values("member")
        if members := list(Member.objects.filter(pk__in=embargoed).order_by("pk")):
            embargo_run(run=run, members=members, by=by)


def lift_embargo(*, embargo: Embargo, by: User | None) -> Embargo:
    """Lift an embargo. Raise `Conflict` if it is lifted already, or if the member has yet to rate the outputs."""
    if reason := embargo_reason(embargo.run):
        raise Conflict(reason)
    with transaction.atomic():
        if not Embargo.objects.active().filter(pk=embargo.pk).update(lifted_at=timezone.now()):
            raise Conflict("This embargo has already been lifted.")
        _log("lift embargo", embargo.run, by, {"people": [embargo.member.pseudonym]})
    embargo.refresh_from_db()
    return embargo


def _log(verb: str, run: Run, by: User | None, after: object) -> None:
    record(actor=by, verb=verb, obj=run, project_id=run.version.system.project_id, after=after)
