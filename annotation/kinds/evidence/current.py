"""Keep the inputs of a target sentence in line with the decisions about its supporting sentences (M3 level 2)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Max

from accounts.models import User
from annotation.evidence.current import FIELD, KIND, current_targets_of
from annotation.kinds.clusters import kinds_depending_on
from annotation.models import Cluster, EvidencePair, Input, Level, Sentence, Study, Target
from audit.log import record_all
from projects.gold.queries import current_values, withdrawn_values
from projects.models import Member, Unit
from projects.staleness import actions as staleness_actions

Passage = tuple[tuple[int, ...], str]


@dataclass
class _Change:
    """Changes to the inputs of one target from one study."""

    target: Target
    study: Study
    new: list[Passage] = field(default_factory=list)
    back: list[Input] = field(default_factory=list)
    gone: list[Input] = field(default_factory=list)


def update_inputs(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Apply the decisions to the inputs of targets.

    Create inputs from the current supporting sentences. They replace all earlier inputs of the same target and study,
    also typed or imported ones. If a decision was withdrawn, the earlier inputs become current again.

    Run in the caller's transaction. Idempotent. A fixed number of queries.
    """
    # A correction of a target's text locks its pairs too, so the current text cannot change meanwhile.
    locked = Unit.objects.select_for_update(no_key=True).filter(pk__in=[unit.pk for unit in units])
    list(locked.order_by("pk").values_list("pk"))
    pairs = list(EvidencePair.objects.filter(unit__in=units).select_related("target__unit", "study"))
    targets = current_targets_of(pairs)
    decided = {unit: value[FIELD] for unit, value in current_values(units, KIND).items() if FIELD in value}
    withdrawn = {unit for unit, _ in withdrawn_values([unit.pk for unit in units], KIND)}
    passages = _passages(pairs, decided)
    existing: dict[tuple[int, int], list[Input]] = defaultdict(list)
    inputs = Input.objects.filter(target__in=targets.values(), study__in=[p.study_id for p in pairs])
    for row in inputs.with_source_text():
        existing[row.target_id, row.study_id].append(row)
    changes = []
    for pair in pairs:
        target = targets[pair.unit_id]
        rows = existing[target.pk, pair.study_id]
        if pair.unit_id in decided:
            changes.append(_decided(_Change(target, pair.study), rows, passages[pair.unit_id]))
        elif pair.unit_id in withdrawn:
            changes.append(_undecided(_Change(target, pair.study), rows))
    _write([change for change in changes if change.new or change.back or change.gone], by, reason)


def _decided(change: _Change, rows: Iterable[Input], passages: Sequence[Passage]) -> _Change:
    free = list(rows)
    for numbers, text in passages:
        match = next((row for row in free if _is_same_passage(row, numbers, text)), None)
        if match is None:
            change.new.append((numbers, text))
            continue
        free.remove(match)
        if not match.is_current:
            change.back.append(match)
    change.gone = [row for row in free if row.is_current]
    return change


def _undecided(change: _Change, rows: Iterable[Input]) -> _Change:
    for row in rows:
        if row.numbers and row.is_current:
            change.gone.append(row)
        elif not row.numbers and not row.is_current:
            change.back.append(row)
    return change


def _is_same_passage(row: Input, numbers: Sequence[int], text: str) -> bool:
    """Return whether the input is this passage, or was typed or imported with the same words."""
    return row.numbers == list(numbers) if row.numbers else row.source_text.split() == text.split()


def _passages(pairs: Sequence[EvidencePair], numbers_by_unit: dict[int, list[int]]) -> dict[int, list[Passage]]:
    """Return the marked passages by the unit of the pair.

    Adjacent sentences form one passage, verbatim from the abstract. Sentences separated by another sentence or a
    heading are separate passages.
    """
    sentences: dict[int, dict[int, Sentence]] = defaultdict(dict)
    for sentence in Sentence.objects.filter(
        study__in={pair.study_id for pair in pairs if numbers_by_unit.get(pair.unit_id)}
    ):
        sentences[sentence.study_id or 0][sentence.number] = sentence
    by_unit = {}
    for pair in pairs:
        marked = [sentences[pair.study_id][number] for number in numbers_by_unit.get(pair.unit_id, ())]
        by_unit[pair.unit_id] = [_passage(run, pair.study.abstract) for run in _runs(marked, pair.study.abstract)]
    return by_unit


def _runs(marked: Sequence[Sentence], abstract: str) -> list[list[Sentence]]:
    runs: list[list[Sentence]] = []
    for sentence in marked:
        last = runs[-1][-1] if runs else None
        is_next = last is not None and sentence.number == last.number + 1
        if is_next and last is not None and not abstract[last.end : sentence.start].strip():
            runs[-1].append(sentence)
        else:
            runs.append([sentence])
    return runs


def _passage(run: Sequence[Sentence], abstract: str) -> Passage:
    return tuple(sentence.number for sentence in run), abstract[run[0].start : run[-1].end]


def _write(changes: Sequence[_Change], by: User | None, reason: str) -> None:
    if not changes:
        return
    for which, counts in (("back", True), ("gone", False)):
        rows = [row.pk for change in changes for row in getattr(change, which)]
        Input.objects.filter(pk__in=rows).update(is_current=counts)
    target_ids = {change.target.pk for change in changes}
    last = Input.objects.filter(target__in=target_ids).order_by().values_list("target").annotate(last=Max("position"))
    positions: dict[int, int] = defaultdict(int, dict(last))
    inputs = []
    for change in changes:
        for numbers, text in change.new:
            positions[change.target.pk] += 1
            position = positions[change.target.pk]
            inputs.append(
                Input(target=change.target, study=change.study, position=position, text=text, numbers=list(numbers))
            )
    Input.objects.bulk_create(inputs)
    record_all(
        {
            "actor": by,
            "verb": "map evidence",
            "obj": change.target,
            "project_id": change.target.project_id,
            "reason": reason,
            "before": {"study": change.study.pmid, "texts": [row.text for row in change.gone]},
            "after": {
                "study": change.study.pmid,
                "texts": [*(row.text for row in change.back), *(text for _, text in change.new)],
            },
        }
        for change in changes
    )
    _mark_dependents_stale({change.target.pk: change.target for change in changes}, by, reason)


def _mark_dependents_stale(targets: dict[int, Target], by: User | None, reason: str) -> None:
    """Mark answers about clusters as stale if they depend on these inputs."""
    project = next(iter(targets.values())).project_id
    member = Member.objects.filter(project=project, user=by).first() if by else None
    if member is None:
        return
    keys = {target.key for target in targets.values()}
    clusters = Cluster.objects.current().filter(project=project, sentence__level=Level.SENTENCE, sentence__key__in=keys)
    staleness_actions.changed(
        units=[cluster.unit for cluster in clusters.select_related("unit")],
        kinds=kinds_depending_on("evidence"),
        what=KIND,
        reason=reason or "The evidence of the sentence changed.",
        by=member,
    )
