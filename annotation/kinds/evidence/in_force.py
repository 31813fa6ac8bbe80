"""The inputs of a target sentence, kept the same as the sentences that were decided to support it (M3's level 2)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Max

from accounts.models import User
from audit.log import record_all
from projects.actions import staleness
from projects.models import Member, Unit
from projects.values.in_force import taken_back, values_in_force

from ...models import Cluster, EvidencePair, Input, Level, Sentence, Study, Target
from ...values.evidence import FIELD, KIND, in_their_place
from ..clusters import said_of

Passage = tuple[tuple[int, ...], str]


@dataclass
class _Change:
    """What becomes of the inputs that one target has from one study."""

    target: Target
    study: Study
    new: list[Passage] = field(default_factory=list)
    back: list[Input] = field(default_factory=list)
    gone: list[Input] = field(default_factory=list)


def follow(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Make the inputs of the sentences in force, and put aside what the target had from these studies otherwise, typed
    or brought by a file: what is decided of a target and a study stands in its place. Where a decision is taken back,
    that counts again. In the caller's transaction; a fixed number of queries; done again, it does nothing."""
    # Whoever corrects the text of a target holds its pairs, too: the text in force stays so until this is done.
    held = Unit.objects.select_for_update(no_key=True).filter(pk__in=[unit.pk for unit in units])
    list(held.order_by("pk").values_list("pk"))
    pairs = list(EvidencePair.objects.filter(unit__in=units).select_related("target__unit", "study"))
    targets = in_their_place(pairs)
    said = {unit: value[FIELD] for unit, value in values_in_force(units, KIND).items() if FIELD in value}
    back = {unit for unit, _ in taken_back([unit.pk for unit in units], KIND)}
    passages = _passages(pairs, said)
    there: dict[tuple[int, int], list[Input]] = defaultdict(list)
    for row in Input.objects.filter(target__in=targets.values(), study__in=[p.study_id for p in pairs]):
        there[row.target_id, row.study_id].append(row)
    changes = []
    for pair in pairs:
        target = targets[pair.unit_id]
        rows = there[target.pk, pair.study_id]
        if pair.unit_id in said:
            changes.append(_decided(_Change(target, pair.study), rows, passages[pair.unit_id]))
        elif pair.unit_id in back:
            changes.append(_undecided(_Change(target, pair.study), rows))
    _write([change for change in changes if change.new or change.back or change.gone], by, reason)


def _decided(change: _Change, rows: Iterable[Input], wanted: Sequence[Passage]) -> _Change:
    free = list(rows)
    for numbers, text in wanted:
        same = next((row for row in free if _is(row, numbers, text)), None)
        if same is None:
            change.new.append((numbers, text))
            continue
        free.remove(same)
        if not same.is_current:
            change.back.append(same)
    change.gone = [row for row in free if row.is_current]
    return change


def _undecided(change: _Change, rows: Iterable[Input]) -> _Change:
    for row in rows:
        if row.numbers and row.is_current:
            change.gone.append(row)
        elif not row.numbers and not row.is_current:
            change.back.append(row)
    return change


def _is(row: Input, numbers: Sequence[int], text: str) -> bool:
    """One that was typed, or came in a file, with the same words is the input."""
    return row.numbers == list(numbers) if row.numbers else row.text.split() == text.split()


def _passages(pairs: Sequence[EvidencePair], said: dict[int, list[int]]) -> dict[int, list[Passage]]:
    """The texts that were marked, by the pair's unit. Neighbours are one text, as they stand in the abstract; sentences
    between which others stand, or a heading, are a text each."""
    told: dict[int, dict[int, Sentence]] = defaultdict(dict)
    for sentence in Sentence.objects.filter(study__in={pair.study_id for pair in pairs if said.get(pair.unit_id)}):
        told[sentence.study_id or 0][sentence.number] = sentence
    found = {}
    for pair in pairs:
        marked = [told[pair.study_id][number] for number in said.get(pair.unit_id, ())]
        found[pair.unit_id] = [_passage(run, pair.study.abstract) for run in _runs(marked, pair.study.abstract)]
    return found


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
    of = {change.target.pk for change in changes}
    last = Input.objects.filter(target__in=of).order_by().values_list("target").annotate(last=Max("position"))
    positions: dict[int, int] = defaultdict(int, dict(last))
    made = []
    for change in changes:
        for numbers, text in change.new:
            positions[change.target.pk] += 1
            position = positions[change.target.pk]
            made.append(
                Input(target=change.target, study=change.study, position=position, text=text, numbers=list(numbers))
            )
    Input.objects.bulk_create(made)
    record_all(
        {
            "actor": by, "verb": "map evidence", "obj": change.target, "project_id": change.target.project_id,
            "reason": reason, "before": {"study": change.study.pmid, "texts": [row.text for row in change.gone]},
            "after": {
                "study": change.study.pmid,
                "texts": [*(row.text for row in change.back), *(text for _, text in change.new)],
            },
        }
        for change in changes
    )  # fmt: skip
    _evidence_changed({change.target.pk: change.target for change in changes}, by, reason)


def _evidence_changed(targets: dict[int, Target], by: User | None, reason: str) -> None:
    """What was said of clusters in view of these inputs is to be looked at again."""
    project = next(iter(targets.values())).project_id
    member = Member.objects.filter(project=project, user=by).first() if by else None
    if member is None:
        return
    keys = {target.key for target in targets.values()}
    made = Cluster.objects.current().filter(project=project, sentence__level=Level.SENTENCE, sentence__key__in=keys)
    staleness.changed(
        units=[cluster.unit for cluster in made.select_related("unit")], kinds=said_of("evidence"), what=KIND,
        reason=reason or "The evidence of the sentence was decided otherwise.", by=member,
    )  # fmt: skip
