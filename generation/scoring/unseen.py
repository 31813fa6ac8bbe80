"""Compute and store figures without the units that the model of any system has seen (`generation.exposure`).

These units are left out for all systems of a level, so that comparisons stay paired. Only workers and commands compute;
tables read. Runs that are embargoed for a member also decide which units are left out, so that all members read the
same figures.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property, partial
from itertools import combinations
from typing import Any

from audit.digests import digest_of
from measures.comparison import RULE as OF_PAIRS
from measures.comparison import probes_compared, scores_compared
from measures.means import RULE
from measures.probe import RULE as OF_PROBES
from measures.probe import probe_tables
from measures.references import WRITTEN_LEVELS
from projects.jobs import batches
from projects.models import Project

from ..exposure import Exposures
from ..models import ProbeFigures, Scoring, UnseenFigures
from ..probing.purpose import judged_pairs
from .checking import compared_figures
from .comparing import (
    Storing,
    bounds_of,
    common_rows,
    digest_of_probes,
    in_order,
    latest_probes,
    scored_units,
    scorings_alike,
)
from .computing import KINDS, means_of

Json = dict[str, Any]
#: Returns the corpus figures of a scoring without units.
Corpus = Callable[[Scoring, Collection[int]], Json]


def key_of_means(scoring: int) -> str:
    return f"means {scoring}"


def key_of_comparison(first: int, second: int) -> str:
    """Return the key of the comparison of two scorings."""
    return "comparison {} {}".format(*in_order(first, second))


def key_of_probe(figures: int) -> str:
    return f"probe {figures}"


def key_of_probes(first: int, second: int) -> str:
    """Return the key of the comparison of two probes."""
    return "probes {} {}".format(*in_order(first, second))


def key_of_common(level: str) -> str:
    return f"common {level}"


class Unseen:
    """The stored figures of a project for its current unseen units. At most one query besides those of exposures."""

    def __init__(self, project: Project, exposures: Exposures | None = None) -> None:
        self.project = project
        self.exposures = exposures or Exposures(project)
        self._of: dict[str, str] = {}

    @cached_property
    def _stored(self) -> Mapping[str, tuple[str, Any]]:
        rows = UnseenFigures.objects.filter(project=self.project).values_list("key", "of", "content")
        return {key: (of, content) for key, of, content in rows}

    def of(self, level: str) -> str:
        """Return the identity of the units that are left out, and of the rules; empty if no unit is left out."""
        if level not in self._of:
            units = self.exposures.digest(level)
            self._of[level] = digest_of([units, RULE, OF_PAIRS, OF_PROBES]) if units else ""
        return self._of[level]

    def find(self, level: str, key: str) -> Any:
        """Return stored figures, or None if they are missing or of other units."""
        of, content = self._stored.get(key, ("", None))
        return content if of and of == self.of(level) else None

    def has(self, level: str, keys: Collection[str]) -> bool:
        """Return whether figures with all these keys are stored, without reading them."""
        return UnseenFigures.objects.filter(project=self.project, of=self.of(level), key__in=keys).count() == len(keys)

    def store(self, level: str, key: str, content: Any, storing: Callable[[], None] = lambda: None) -> None:
        with batches.batch():
            storing()
            UnseenFigures.objects.update_or_create(
                project=self.project, key=key, defaults={"of": self.of(level), "content": content}
            )


def lacks_unseen(scoring: Scoring) -> bool:
    """Return whether figures of a scoring, or of those that tables show beside it, are not stored yet."""
    level, unseen = scoring.run.version.level, Unseen(scoring.run.version.system.project)
    return bool(unseen.of(level)) and not unseen.has(level, _keys_of(level, scorings_alike(scoring)))


def _keys_of(level: str, scorings: Iterable[Scoring]) -> list[str]:
    alike = list(scorings)
    keys = [key_of_means(scoring.pk) for scoring in alike]
    if alike and compared_figures(alike[0].metric, level):
        keys += [key_of_comparison(one.pk, other.pk) for one, other in combinations(alike, 2)]
    return keys


def compute_unseen_scores(scoring: Scoring, corpus: Corpus, storing: Storing = lambda words: None) -> None:
    """Store the means, corpus figures and comparisons of a scoring and of those that tables show beside it.

    Existing ones are not computed again.
    """
    level, unseen = scoring.run.version.level, Unseen(scoring.run.version.system.project)
    if not unseen.of(level):
        return
    left_out, alike = unseen.exposures.of_level(level), scorings_alike(scoring)
    for each in alike:
        if unseen.find(level, key := key_of_means(each.pk)) is None:
            content = {"means": means_of(each, left_out), "corpus": corpus(each, left_out)}
            unseen.store(level, key, content, partial(storing, each.run.version.system.name))
    if not compared_figures(scoring.metric, level):
        return
    bounds, alike = bounds_of(scoring.metric), sorted(alike, key=lambda each: each.pk)
    for at, first in enumerate(alike):
        others = [
            other for other in alike[at + 1 :] if unseen.find(level, key_of_comparison(first.pk, other.pk)) is None
        ]
        units = scored_units(first, left_out) if others else None
        for second in others:
            assert units
            rows = scores_compared(units, scored_units(second, left_out), bounds, ranks=level in WRITTEN_LEVELS)
            key = key_of_comparison(first.pk, second.pk)
            unseen.store(level, key, rows, partial(storing, second.run.version.system.name))


def compute_unseen_probes(figures: ProbeFigures) -> None:
    """Store the results and comparisons of the probes of a level, and their results on common pairs."""
    version = figures.run.version
    level, unseen = version.level, Unseen(version.system.project)
    if not unseen.of(level):
        return
    left_out, probes = unseen.exposures.of_level(level), latest_probes(version.system.project, level)
    for at, first in enumerate(probes):
        pairs = judged_pairs(first.run, left_out)
        if unseen.find(level, key := key_of_probe(first.pk)) is None:
            unseen.store(level, key, [row.as_json() for row in probe_tables(list(pairs.values()), KINDS)])
        for second in probes[at + 1 :]:
            if unseen.find(level, key := key_of_probes(first.pk, second.pk)) is None:
                unseen.store(level, key, probes_compared(pairs, judged_pairs(second.run, left_out), KINDS))
    digest = digest_of_probes((probe.run_id, probe.items) for probe in probes)
    if len(probes) > 1 and (unseen.find(level, key_of_common(level)) or {}).get("of") != digest:
        rows = common_rows([probe.run for probe in probes], left_out)
        unseen.store(level, key_of_common(level), {"of": digest, "rows": rows})
