"""The data of the result tables: for each run and metric the latest finished scoring, with its stored means."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

from annotation.models import Cluster
from annotation.questions.references import reference_order
from generation.results.tables import building
from measures.clustered import FEW
from measures.comparison import RULE as OF_PAIRS
from measures.comparison import Comparison
from measures.means import Mean
from projects.models import Member, Project
from projects.reports.table import Cell

from ... import metrics
from ...exposure import Exposures
from ...latest_runs import names, runs_with_summaries
from ...metrics.protocol import Figure
from ...models import CommonProbe, Run, RunQuerySet, Scoring, UnitLevel
from ...scoring.checking import compared_figures
from ...scoring.comparing import Stored, comparisons, digest_of_probes, probe_comparisons
from ...scoring.computing import (
    NOT_COMPUTED,
    NOT_SCORED,
    OWN,
    PROPOSITIONS,
    Figures,
    Found,
    figures_of,
    has_current_means,
    results_of,
)
from ...scoring.unseen import Unseen, key_of_common
from .probed import Probed, probe_without_seen, probes
from .scored_run import ScoredRun
from .scorings import ScoredRuns
from .seen import LEFT_OUT, comparisons_without_seen, count_seen
from .wording import active_params, few_reviews, format_values, sort_names, versions

NO_REFERENCE = "there is no reference of this kind"


#: Note for a rater of a blind round.
HIDDEN = "Summaries of systems that you rate blindly are hidden until the round is unblinded; their runs are left out."


class Scores(ScoredRuns):
    """The data of a project's tables, read once for all of them in a fixed number of queries, without reading scores.

    Excludes runs that are embargoed for ``member``. If ``published`` is set, it excludes runs embargoed for anyone. If
    ``unseen`` is set, it leaves out units that the model of any system has seen in a training.
    """

    takes_unseen = True

    def __init__(
        self, project: Project, member: Member | None = None, *, published: bool = False, unseen: bool = False
    ) -> None:
        super().__init__(project, member, published=published)
        self.exposures = Exposures(project)
        self.unseen = Unseen(project, self.exposures) if unseen else None
        all_runs = runs_with_summaries(project)
        runs: list[Any] = list(self._readable(all_runs))  # Any, because the type lacks annotated fields.
        self.has_embargoed_runs = bool(member) and len(runs) < all_runs.count()
        display_names = names(runs)
        retired = building.retired(project, runs)
        seen = count_seen(self.exposures, runs, by_any=unseen)
        has_propositions = Cluster.objects.current().filter(project=project).exists()
        self.every_run = [
            ScoredRun(
                run,
                display_names[run.pk],
                run.summaries - done - (unseen and seen_done),
                run.items_total - items - (unseen and seen_items),
                has_propositions,
                0 if unseen else seen_items,
            )
            for run in runs
            for items, done in [retired.get(run.pk, (0, 0))]
            for seen_items, seen_done in [seen.get(run.pk, (0, 0))]
        ]
        #: Outputs for pairs are directions instead of texts, and have a table of their own.
        self.pair_runs = [scored_run for scored_run in self.every_run if scored_run.level == UnitLevel.PAIR]
        self.runs = [scored_run for scored_run in self.every_run if scored_run not in self.pair_runs]
        self._figures: dict[int, Figures] = {}

    @property
    def target_runs(self) -> list[ScoredRun]:
        """The runs whose units have targets instead of written references."""
        return [scored_run for scored_run in self.runs if not scored_run.is_written]

    @property
    def written_runs(self) -> list[ScoredRun]:
        """The runs over passages and questions, whose references are written summaries."""
        return [scored_run for scored_run in self.runs if scored_run.is_written]

    @property
    def has_targets(self) -> bool:
        """Whether there are such runs, or no runs yet."""
        return bool(self.target_runs or not self.runs)

    def only(self, runs: list[ScoredRun]) -> Self:
        """Return the same data for some of the runs. What was not read yet is read once for both."""
        _ = self._scorings, self._compared, self._removed, self._inputs, self._comparisons
        scores = copy(self)
        scores.runs = runs
        return scores

    def sides(self, scored_run: ScoredRun) -> Sequence[str]:
        """Return the kinds or names of references, which form one table row each."""
        if scored_run.is_written:
            return self._written_sides(scored_run) or (OWN,)
        has_propositions = scored_run.level == UnitLevel.DOCUMENT and scored_run.has_propositions
        return (OWN, PROPOSITIONS) if has_propositions else (OWN,)

    def _written_sides(self, scored_run: ScoredRun) -> Sequence[str]:
        scorings = [scoring for (_, run), scoring in self._scorings.items() if run == scored_run.run.pk]
        names = {side for scoring in scorings if has_current_means(scoring) for _, side in self._figures_of(scoring)}
        return sorted(names - {OWN}, key=reference_order)

    def _readable(self, runs: RunQuerySet) -> RunQuerySet:
        if self.published:
            return runs.open_to_all()
        return runs.open_to(self.member) if self.member else runs

    @cached_property
    def _every_probe(self) -> list[Probed]:
        found = probes(self.project, self._readable)
        seen = count_seen(self.exposures, [probed.run for probed in found], by_any=bool(self.unseen))
        marked = [replace(probed, seen=seen.get(probed.run.pk, (0, 0))[0]) for probed in found]
        return [probe_without_seen(self.unseen, probed) for probed in marked] if self.unseen else marked

    @cached_property
    def probed(self) -> list[Probed]:
        """The probes that the member may see, read once for all tables."""
        return [probed for probed in self._every_probe if not probed.is_embargoed]

    @cached_property
    def common(self) -> list[Probed]:
        """The visible probes of levels with several probes, with results on the pairs that all of them judged.

        Embargoed probes also count for the common pairs. Results are empty until they are computed.
        """
        restricted = []
        for probed in self.probed:
            if probed.items and len(self.alike(probed.level)) > 1:
                rows = self.stored_common(probed.level).get(str(probed.run.pk), [])
                restricted.append(replace(probed, results=results_of(rows, "all"), content=results_of(rows, "content")))
        return restricted

    def alike(self, level: str) -> list[Probed]:
        """Return the computed probes of a level, whose common pairs restrict Table 7.

        Embargoed probes are included, so that all members read the same figures. Published tables must not reveal
        anything about them, so they exclude them.
        """
        probes = self.probed if self.published else self._every_probe
        return [probed for probed in probes if probed.level == level and probed.items]

    def stored_common(self, level: str) -> Mapping[str, Sequence[dict[str, Any]]]:
        """Return the rows, by run, on the pairs that all `alike` probes judged; empty if not computed yet."""
        digest = digest_of_probes((probed.run.pk, probed.items) for probed in self.alike(level))
        if self.unseen and self.unseen.of(level):
            common = self.unseen.find(level, key_of_common(level)) or {"of": "", "rows": {}}
            return common["rows"] if common["of"] == digest else {}
        return self._common.get(digest, {})

    @cached_property
    def _common(self) -> dict[str, Mapping[str, Sequence[dict[str, Any]]]]:
        return {common.of: common.rows for common in CommonProbe.objects.filter(project=self.project, rule=OF_PAIRS)}

    @cached_property
    def _probe_comparisons(self) -> Stored:
        levels = {probed.figures.pk: probed.level for probed in self.probed if probed.figures}
        stored = probe_comparisons(levels)
        return comparisons_without_seen(self.unseen, levels, stored, are_probes=True) if self.unseen else stored

    def are_compared(self, one: Probed, other: Probed) -> bool:
        return bool(one.figures and other.figures and self._probe_comparisons.has(one.figures.pk, other.figures.pk))

    def probes_compared(self, one: Probed, other: Probed, figure: str, kind: str) -> Comparison | None:
        """Return the stored difference of two probes, or None."""
        if not one.figures or not other.figures:
            return None
        return self._probe_comparisons.find(one.figures.pk, other.figures.pk, figure=figure, kind=kind)

    @cached_property
    def _comparisons(self) -> Stored:
        levels = {
            scoring.pk: scoring.run.version.level
            for scoring in self._scorings.values()
            if compared_figures(scoring.metric, scoring.run.version.level)
        }
        stored = comparisons(levels)
        return comparisons_without_seen(self.unseen, levels, stored) if self.unseen else stored

    def is_compared(self, metric: str, one: Run, other: Run) -> bool:
        """Return whether the comparison of two scored runs is stored."""
        return self._comparisons.has(self._scorings[metric, one.pk].pk, self._scorings[metric, other.pk].pk)

    def comparison(self, metric: str, one: Run, other: Run, figure: str, side: str) -> Comparison | None:
        """Return the stored difference of two runs, or None."""
        first, second = self._scorings[metric, one.pk].pk, self._scorings[metric, other.pk].pk
        return self._comparisons.find(first, second, figure=figure, side=side)

    def computed_scoring(self, metric: str, run: Run) -> Scoring | None:
        """Return the scoring of a run if its means are computed."""
        scoring = self.scoring(metric, run)
        return scoring if scoring and has_current_means(scoring) else None

    def found(self, metric: str, run: Run, figure: str, side: str = OWN) -> Found:
        """Return the mean of a figure, or the reason why there is none. Figures without a reference count as `OWN`."""
        scoring = self.scoring(metric, run)
        if scoring is None or not has_current_means(scoring):
            reason = NOT_COMPUTED if scoring else NOT_SCORED
        elif result := self._figures_of(scoring).get((figure, side)):
            return result
        else:
            reason = NO_REFERENCE
        return Found(Mean(None, 0, 0, undefined=reason), reason)

    def _figures_of(self, scoring: Scoring) -> Figures:
        if scoring.pk not in self._figures:
            self._figures[scoring.pk] = figures_of(scoring)
        return self._figures[scoring.pk]

    def cell(self, metric: str, scored_run: ScoredRun, figure: Figure, side: str = OWN, n: int | None = None) -> Cell:
        """Return the cell of a mean. The cell repeats n only if it differs from ``n``, that of the row."""
        result = self.found(metric, scored_run.run, figure.key, side)
        mean = result.mean
        if mean.value is None:
            return Cell(None, undefined=result.why)
        ci = (mean.ci[0] * figure.scale, mean.ci[1] * figure.scale) if mean.ci else None
        return Cell(
            mean.value * figure.scale, figure.decimals, ci, n=mean.n if mean.n != n else None, ci_reason=mean.ci_reason
        )

    def notes(self, metric_keys: Iterable[str]) -> list[str]:
        """Return notes on versions, units without a summary, and parameters and libraries of each metric.

        Parameters and libraries are given by row if they differ.
        """
        notes = versions((scored_run.name, scored_run.run) for scored_run in self.runs)
        notes += [
            f"{scored_run.label} has summaries of {scored_run.summaries} of {scored_run.items} units; "
            "the means exclude the others."
            for scored_run in self.runs
            if scored_run.summaries < scored_run.items
        ]
        metric_keys = list(metric_keys)
        notes += [note for metric in metric_keys for note in self._settings_notes(metric)]
        return [*notes, *self.few(metric_keys), *self.hidden()]

    def few(self, metric_keys: Iterable[str]) -> list[str]:
        """Return a note about figures of these metrics with few reviews."""
        least: dict[str, int] = {}
        for metric in metric_keys:
            for scored_run in self.runs:
                scoring = self.scoring(metric, scored_run.run)
                if scoring is not None and has_current_means(scoring):
                    figures = self._figures_of(scoring).values()
                    cluster_counts = [result.mean.clusters for result in figures if result.mean.few]
                    if cluster_counts:
                        least[scored_run.label] = min([*cluster_counts, least.get(scored_run.label, FEW)])
        return few_reviews(least, "questions" if self.runs and not self.target_runs else "reviews")

    def corpus(self, metric: str, run: Run) -> tuple[Mapping[str, Any] | None, str]:
        """Return the corpus figures of a run, or None and the reason why there are none."""
        scoring = self.scoring(metric, run)
        if scoring is None:
            return None, NOT_SCORED
        return scoring.corpus or None, NOT_COMPUTED

    def seen(self) -> list[dict[str, Any]]:
        """Return the number of units of each level that the model of any system has seen."""
        levels = dict.fromkeys([*(each.level for each in self.every_run), *(each.level for each in self.probed)])
        counts = {level: len(self.exposures.of_level(level)) for level in levels}
        return [{"level": level, "units": count} for level, count in counts.items() if count]

    def hidden(self) -> list[str]:
        """Return a note if runs are hidden from this member, and how many units are left out."""
        notes = [HIDDEN] if self.has_embargoed_runs else []
        if self.unseen:
            notes += [LEFT_OUT.format(**of_level) for of_level in self.seen()]
        return notes

    def exclusion_notes(self, figures: Iterable[tuple[str, Figure]]) -> list[str]:
        """Return notes on undefined figures that the means exclude: figure, system, number and reason."""
        return [
            f"{figure.label} of {scored_run.name} ({scored_run.level}, {side}) excludes {count}: {reason}."
            for metric, figure in figures
            for scored_run in self.runs
            for side in self.sides(scored_run)
            if (result := self.found(metric, scored_run.run, figure.key, side)).mean.value is not None
            for reason, count in result.undefined.items()
        ]

    def _settings_notes(self, metric: str) -> list[str]:
        systems_by_settings: dict[str, list[str]] = defaultdict(list)
        for scored_run in self.runs:
            if scoring := self.scoring(metric, scored_run.run):
                params = active_params(metrics.get(metric).parameters, scoring.params)
                systems_by_settings[format_values({**params, **sort_names(scoring.libraries)})].append(scored_run.label)
        name = metrics.get(metric).name
        if len(systems_by_settings) < 2:
            return [f"{name}: {settings}." for settings in systems_by_settings]
        return [
            f"{name} of {', '.join(systems)}: {settings}. Not comparable with the other rows."
            for settings, systems in systems_by_settings.items()
        ]
