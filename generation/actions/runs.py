"""Runs: started, stopped, resumed, and hidden from people who are to rate what came out."""

from collections.abc import Callable, Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from projects.models import Member

from ..models import ItemStatus, Run, RunPurpose, RunStatus, Seal, Version
from ..systems.identity import backend_of
from . import purposes
from .lanes import keep_chunks, stop, top_up
from .layout import BEGIN, lay_out, make_items

MOST_LANES = 64
#: Why a run's seals cannot be lifted, by the apps that know of one; empty where nothing is against it.
KeepsSealed = Callable[[Run], str]
_keepers: list[KeepsSealed] = []


def keep_sealed_while(reason: KeepsSealed) -> None:
    """Make known what keeps seals from being lifted."""
    _keepers.append(reason)


def kept_sealed(run: Run) -> str:
    """Why no seal of a run can be lifted now; empty where they can."""
    return next(filter(None, (keeps(run) for keeps in _keepers)), "")


def start_run(
    *,
    version: Version,
    by: User | None,
    units: Sequence[int] | None = None,
    purpose: str = RunPurpose.SUMMARIES,
    lanes: int = 2,
) -> Run:
    """Apply a version to the units of its level, or to some of them. Of many units the chunks lay out the items.

    ``lanes``: how many workers may be at it at once. `Conflict` while another run of the version for the same purpose
    is under way, `Refused` where there is nothing to do or the backend cannot do it.
    """
    project = version.system.project
    work = purposes.get(purpose)
    if reason := work.refusal(backend_of(version.config)):
        raise Refused(reason)
    if not 1 <= lanes <= MOST_LANES:
        raise Refused.field("lanes", f"From 1 to {MOST_LANES}.")
    places = work.places(project, version.level)
    chosen = None if units is None else _chosen([unit for _, _, unit in places], units)
    count = places.count() if chosen is None else len(chosen)
    if not count:
        raise Refused("No unit was chosen.")
    try:
        with transaction.atomic():
            run = Run.objects.create(
                version=version, purpose=purpose, started_by=by, lanes=lanes, units_count=count,
                laid_to=BEGIN if chosen is None else None,
            )  # fmt: skip
            _keep_sealed(run, by)
            if chosen is None:
                lay_out(run)
            else:
                make_items(run, chosen)
            _log("start run", run, by, {"version": version.hash, "purpose": purpose, "items": count})
            top_up(run)
    except IntegrityError as error:
        raise Conflict("A run of this version is under way already; stop it, or let it end.") from error
    return run


def _chosen(there: Sequence[int], units: Sequence[int]) -> list[int]:
    wanted = set(units)
    if strange := wanted - set(there):
        raise Refused.field("units", f"{len(strange)} of the units are not of this project and level.")
    return [unit for unit in there if unit in wanted]


def stop_run(*, run: Run, by: User | None) -> Run:
    """Stop a run. What was finished stays; what is being worked on is stored if it is done first."""
    with transaction.atomic():
        if not stop(run, ""):
            raise Conflict("This run is not under way.")
        _log("stop run", run, by, None)
    run.refresh_from_db()
    return run


def resume_run(*, run: Run, by: User | None) -> Run:
    """Go on with what a stopped run left undone."""
    return _again(run, by, "resume run", (RunStatus.STOPPED,), "This run is not stopped.")


def retry_failed(*, run: Run, by: User | None) -> Run:
    """Try the failed items of a run that has ended again, and go on with what is left."""
    if not run.items.filter(status=ItemStatus.FAILED).exists():
        raise Conflict("No item of this run has failed.")
    ended = (RunStatus.STOPPED, RunStatus.DONE)
    return _again(run, by, "retry failed items", ended, "This run is still under way; try again when it has ended.")


def _again(run: Run, by: User | None, verb: str, ended: Sequence[RunStatus], refusal: str) -> Run:
    keep_chunks(run)
    try:
        with transaction.atomic():
            if not any(_move(run, status, RunStatus.RUNNING, error="", finished_at=None) for status in ended):
                raise Conflict(refusal)
            run.items.filter(status=ItemStatus.WAITING, attempts__gt=0).update(attempts=0)
            if verb == "retry failed items":
                run.items.filter(status=ItemStatus.FAILED).update(
                    status=ItemStatus.WAITING, error="", attempts=0, finished_at=None, job=None
                )
            _log(verb, run, by, {"waiting": run.items.filter(status=ItemStatus.WAITING).count()})
            top_up(run)
    except IntegrityError as error:
        raise Conflict("Another run of this version is under way; stop it, or let it end.") from error
    run.refresh_from_db()
    return run


def _move(run: Run, old: RunStatus, new: RunStatus, **fields: object) -> bool:
    return bool(Run.objects.filter(pk=run.pk, status=old).update(status=new, **fields))


def seal_run(*, run: Run, members: Sequence[Member], by: User | None) -> list[Seal]:
    """Hide a run's outputs from people until their seals are lifted. Who has one already keeps it."""
    project = run.version.system.project_id
    if any(member.project_id != project for member in members):
        raise Refused.field("members", "Everyone must be a member of this project.")
    with transaction.atomic():
        sealed = set(run.seals.in_force().values_list("member_id", flat=True))
        new = [member for member in dict.fromkeys(members) if member.pk not in sealed]
        Seal.objects.bulk_create([Seal(run=run, member=member) for member in new], ignore_conflicts=True)
        if new:
            _log("seal run", run, by, {"people": [member.pseudonym for member in new]})
    return list(run.seals.in_force().select_related("member"))


def _keep_sealed(run: Run, by: User | None) -> None:
    """What is sealed of a version's earlier runs is sealed of its next one too: it may write the same texts again."""
    if run.purpose == RunPurpose.SUMMARIES:
        sealed = Seal.objects.in_force().filter(run__version=run.version_id).values("member")
        if members := list(Member.objects.filter(pk__in=sealed).order_by("pk")):
            seal_run(run=run, members=members, by=by)


def lift_seal(*, seal: Seal, by: User | None) -> Seal:
    """Let a person see a run's outputs again. `Conflict` where that has been done, or they are still to be rated."""
    if reason := kept_sealed(seal.run):
        raise Conflict(reason)
    with transaction.atomic():
        if not Seal.objects.in_force().filter(pk=seal.pk).update(lifted_at=timezone.now()):
            raise Conflict("This seal was lifted already.")
        _log("lift seal", seal.run, by, {"people": [seal.member.pseudonym]})
    seal.refresh_from_db()
    return seal


def _log(verb: str, run: Run, by: User | None, after: object) -> None:
    record(actor=by, verb=verb, obj=run, project_id=run.version.system.project_id, after=after)
