"""The counterfactual probe as the purpose of a run: its items, its stored scores, and the pairs of judged texts."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, cast

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Counterfactual, Review
from annotation.models.counterfactual import CounterfactualQuerySet, ProbePair
from api.problems import Refused
from measures.probe import Pair, TextNll, paired
from projects.models import Project
from sql.expressions import InIds

from .. import sources
from ..backends.protocol import Backend, Failure, Likelihood, Probed, ProbedUnit, Source, Summariser
from ..models import ProbeScore, Run, RunItem, RunPurpose, UnitLevel, Version

SENTENCES = (
    "Counterfactuals belong to propositions: probe a version for propositions or for documents, not for sentences."
)
NONE = "The project has no counterfactuals: import them first (import_data counterfactuals)."


@dataclass(frozen=True)
class ProbeItem:
    """The texts of one unit.

    ``texts`` holds (target, counterfactual) for each of them; counterfactual is None for the target itself.
    """

    probed: Probed
    texts: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True)
class ProbeOutput:
    unit: int
    texts: tuple[tuple[int, int | None], ...]
    likelihoods: tuple[Likelihood, ...]


class Probing:
    """The purpose of judging targets and their counterfactuals (`actions.Work`)."""

    purpose: str = RunPurpose.PROBE

    def refusal(self, backend: Backend) -> str:
        return backend.no_probe

    def unit_positions(self, project: Project, level: str) -> QuerySet[Any, sources.Position]:
        """Return the units whose targets have counterfactuals."""
        current = _current(project, level)
        if not current.exists():
            raise Refused(NONE)
        if level == UnitLevel.DOCUMENT:
            current = current.filter(target__cluster__review=OuterRef("review"))
        else:
            current = current.filter(target__cluster=OuterRef("pk"))
        return sources.unit_positions(project, level).filter(Exists(current))

    def skipped(self, project: Project, level: str) -> dict[str, int]:
        return {}

    def items(self, version: Version, units: Sequence[int]) -> Mapping[int, ProbeItem]:
        project = version.system.project
        material = sources.materials_of(version, units)
        pairs: dict[int, list[ProbePair]] = defaultdict(list)
        for pair in _pairs(project, version.level, units):
            pairs[pair.unit].append(pair)
        return {
            unit: _build_item(material[unit].source, pairs[unit])
            for unit in units
            if unit in material and unit in pairs
        }

    def do(self, summariser: Summariser, items: Sequence[ProbeItem]) -> Iterator[list[ProbeOutput | Failure]]:
        texts = {item.probed.source.unit: item.texts for item in items}
        for batch in summariser.probe([item.probed for item in items]):
            yield [
                ProbeOutput(out.unit, texts[out.unit], out.likelihoods) if isinstance(out, ProbedUnit) else out
                for out in batch
            ]

    def store(self, made: Sequence[tuple[RunItem, ProbeOutput]]) -> None:
        ProbeScore.objects.bulk_create(score for item, out in made for score in _scores(item, out))


def _current(project: Project, level: str) -> CounterfactualQuerySet:
    if level == UnitLevel.SENTENCE:
        raise Refused(SENTENCES)
    return Counterfactual.objects.of(project).current()


def _pairs(project: Project, level: str, units: Iterable[int]) -> list[ProbePair]:
    """Return the current counterfactuals of units with their targets, in one or two queries.

    ``unit`` is that of the level.
    """
    document = level == UnitLevel.DOCUMENT
    rows = _current(project, level).filter(
        **{f"target__cluster__{'review__' if document else ''}unit__in": list(units)}
    )
    pairs = rows.in_corpus_order().pairs()
    if not document:
        return pairs
    unit_of = dict(Review.objects.filter(pk__in={pair.review for pair in pairs}).values_list("pk", "unit_id"))
    return [pair._replace(unit=unit_of[pair.review]) for pair in pairs]


def _build_item(source: Source, pairs: Sequence[ProbePair]) -> ProbeItem:
    """Return each target followed by its counterfactuals. A document may have several targets."""
    by_target: dict[int, list[ProbePair]] = defaultdict(list)
    for pair in pairs:
        by_target[pair.target].append(pair)
    texts: list[str] = []
    ids: list[tuple[int, int | None]] = []
    for target, group in by_target.items():
        texts += [group[0].target_text, *(pair.text for pair in group)]
        ids += [(target, None), *((target, pair.counterfactual) for pair in group)]
    return ProbeItem(Probed(source, tuple(texts)), tuple(ids))


def _scores(item: RunItem, out: ProbeOutput) -> Iterator[ProbeScore]:
    targets = {
        target: likelihood
        for (target, counterfactual), likelihood in zip(out.texts, out.likelihoods, strict=True)
        if counterfactual is None
    }
    for (target, counterfactual), likelihood in zip(out.texts, out.likelihoods, strict=True):
        sums = TextNll.of_tokens(likelihood.nll, likelihood.special)
        score = ProbeScore(
            item=item,
            target_id=target,
            counterfactual_id=counterfactual,
            content_sum=sums.content_sum,
            content_tokens=sums.content_tokens,
            all_sum=sums.all_sum,
            all_tokens=sums.all_tokens,
            token_ids=list(likelihood.token_ids),
            nll=list(likelihood.nll),
        )
        if counterfactual is not None:
            (score.replaced_sum, score.replaced_tokens), (score.changed_sum, score.changed_tokens) = sum_changed_tokens(
                targets[target], likelihood
            )
        yield score


def sum_changed_tokens(target: Likelihood, other: Likelihood) -> tuple[tuple[float, int], tuple[float, int]]:
    """Return (sum, tokens) over the content tokens that only the target has, and over those that only the other text
    has.

    Tokens are matched by id, as a file diff matches lines.
    """
    (left, left_nll), (right, right_nll) = _content(target), _content(other)
    blocks = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    target_only = [x for kind, a, b, _, _ in blocks if kind != "equal" for x in left_nll[a:b]]
    other_only = [x for kind, _, _, a, b in blocks if kind != "equal" for x in right_nll[a:b]]
    return (sum(target_only), len(target_only)), (sum(other_only), len(other_only))


def _content(likelihood: Likelihood) -> tuple[list[int], list[float]]:
    kept = [i for i, special in enumerate(likelihood.special) if not special]
    return [likelihood.token_ids[i] for i in kept], [likelihood.nll[i] for i in kept]


def pairs_of(run: Run) -> list[Pair]:
    """Return the pairs for `measures.probe` of all done items of a run, in one query."""
    return list(judged_pairs(run).values())


def judged_pairs(run: Run, without: Collection[int] = ()) -> dict[tuple[int, int], Pair]:
    """Like `pairs_of`, by (target, counterfactual). The units ``without`` are left out."""
    scores = ProbeScore.objects.filter(item__run=run)
    rows = (
        (scores.exclude(InIds("item__unit_id", without)) if without else scores)
        .order_by("item_id", "pk")
        .values_list(
            "item_id",
            "target_id",
            "counterfactual_id",
            "counterfactual__kind",
            "target__cluster__review_id",
            "content_sum",
            "content_tokens",
            "all_sum",
            "all_tokens",
            "replaced_sum",
            "replaced_tokens",
            "changed_sum",
            "changed_tokens",
        )
    )
    return cast(dict[tuple[int, int], Pair], paired(rows.iterator()))
