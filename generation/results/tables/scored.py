"""The data of the result tables: for each run and metric the latest finished scoring, with its stored means."""

import shlex
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
from projects.reports.registry import TableContext
from projects.reports.table import Cell, Missing

from ... import metrics
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
    summaries_of,
)
from .probed import Probed, probes
from .scored_run import ScoredRun
from .wording import (
    active_params,
    changed_params,
    few_reviews,
    format_values,
    join_words,
    option_value,
    sort_names,
    version_commands,
    versions,
)

NO_REFERENCE = "there is no reference of this kind"
CORRECTED = "the texts they were compared with were corrected or removed since"
OLD_INPUTS = "their inputs were corrected since they were generated"


#: Non-default parameters -> the runs that lack scores, with a description of what is missing.
_RunsByParams = defaultdict[tuple[tuple[str, Any], ...], list[tuple[ScoredRun, str]]]


class Scores(TableContext):
    """The data of a project's tables, read once for all of them in a fixed number of queries, without reading scores.

    Excludes runs that are embargoed for ``member``. If ``published`` is set, it excludes runs embargoed for anyone.
    """

    def __init__(self, project: Project, member: Member | None = None, *, published: bool = False) -> None:
        super().__init__(project, member, published=published)
        all_runs = runs_with_summaries(project)
        runs: list[Any] = list(self._readable(all_runs))  # Any, because the type lacks annotated fields.
        self.has_embargoed_runs = bool(member) and len(runs) < all_runs.count()
        display_names = names(runs)
        retired = building.retired(project, runs)
        has_propositions = Cluster.objects.current().filter(project=project).exists()
        self.every_run = [
            ScoredRun(run, display_names[run.pk], run.summaries - done, run.items_total - items, has_propositions)
            for run in runs
            for items, done in [retired.get(run.pk, (0, 0))]
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
        return probes(self.project, self._readable)

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
        return self._common.get(digest_of_probes((probed.run.pk, probed.items) for probed in self.alike(level)), {})

    @cached_property
    def _common(self) -> dict[str, Mapping[str, Sequence[dict[str, Any]]]]:
        return {common.of: common.rows for common in CommonProbe.objects.filter(project=self.project, rule=OF_PAIRS)}

    @cached_property
    def _probe_comparisons(self) -> Stored:
        return probe_comparisons([probed.figures.pk for probed in self.probed if probed.figures])

    def are_compared(self, one: Probed, other: Probed) -> bool:
        return bool(one.figures and other.figures and self._probe_comparisons.has(one.figures.pk, other.figures.pk))

    def probes_compared(self, one: Probed, other: Probed, figure: str, kind: str) -> Comparison | None:
        """Return the stored difference of two probes, or None."""
        if not one.figures or not other.figures:
            return None
        return self._probe_comparisons.find(one.figures.pk, other.figures.pk, figure=figure, kind=kind)

    @cached_property
    def _comparisons(self) -> Stored:
        compared = [
            scoring.pk
            for scoring in self._scorings.values()
            if compared_figures(scoring.metric, scoring.run.version.level)
        ]
        return comparisons(compared)

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

    @cached_property
    def _scorings(self) -> dict[tuple[str, int], Scoring]:
        shown = (
            Scoring.objects.latest_finished()
            .filter(run__in=[scored_run.run for scored_run in self.every_run])
            .select_related("run__version")
        )
        return {(scoring.metric, scoring.run_id): scoring for scoring in shown}

    @cached_property
    def _compared(self) -> Mapping[int, int]:
        return building.compared(self.project, [scoring.pk for scoring in self._scorings.values()])

    @cached_property
    def _removed(self) -> Mapping[int, int]:
        return building.removed(self.project, [scoring.pk for scoring in self._scorings.values()])

    @cached_property
    def _inputs(self) -> Mapping[int, int]:
        return building.inputs([scored_run.run for scored_run in self.runs])

    def scoring(self, metric: str, run: Run) -> Scoring | None:
        """Return the latest finished scoring of a run."""
        return self._scorings.get((metric, run.pk))

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

    def missing(self, metric_keys: Sequence[str]) -> list[Missing]:
        """Return the steps that make tables of these metrics complete and current.

        There is one step per metric and set of parameters, for all systems that lack it.
        """
        steps = [
            step
            for metric in metric_keys
            for steps_of in (self._scoring_steps, self._outdated)
            for step in steps_of(metric)
        ]
        return [*self._no_summaries_step(), *steps, *self._outdated_input_steps()]

    def _scoring_steps(self, metric: str) -> list[Missing]:
        """Return the steps for summaries that a metric has not scored."""
        unscored_runs: _RunsByParams = defaultdict(list)
        for scored_run in self.runs:
            scoring = self.scoring(metric, scored_run.run)
            if scoring is None or not has_current_means(scoring):
                unscored_runs[changed_params(metric, scoring)].append((scored_run, scored_run.label))
                continue
            unscored = scored_run.summaries - (summaries_of(scoring) - self._removed.get(scoring.pk, 0))
            if unscored > 0:
                unscored_runs[changed_params(metric, scoring)].append(
                    (scored_run, f"{unscored} of the {scored_run.summaries} summaries of {scored_run.label}")
                )
        return [self._step(metric, params, lacking) for params, lacking in unscored_runs.items()]

    def _outdated(self, metric: str) -> list[Missing]:
        """Return the steps for scores against texts that have been corrected or removed."""
        outdated_runs: _RunsByParams = defaultdict(list)
        for scored_run in self.runs:
            scoring = self.scoring(metric, scored_run.run)
            if scoring is None or not has_current_means(scoring):
                continue
            if count := self._compared.get(scoring.pk, 0) + self._removed.get(scoring.pk, 0):
                description = f"{count} of the {summaries_of(scoring)} summaries of {scored_run.label}"
                outdated_runs[changed_params(metric, scoring)].append((scored_run, description))
        return [self._step(metric, params, runs, CORRECTED) for params, runs in outdated_runs.items()]

    def to_compare(self, metric: str, lacking: Sequence[tuple[ScoredRun, ScoredRun]]) -> list[Missing]:
        """Return the steps that compute missing comparisons.

        Scoring a run again reuses its scores and only compares it.
        """
        uncompared: _RunsByParams = defaultdict(list)
        for scored_run in {other.run.pk: other for _, other in lacking}.values():
            description = f"{scored_run.label} with others"
            uncompared[changed_params(metric, self.scoring(metric, scored_run.run))].append((scored_run, description))
        return [
            replace(step, words=f"the comparison of {step.words}")
            for params, runs in uncompared.items()
            for step in [self._step(metric, params, runs)]
        ]

    def _step(
        self,
        metric: str,
        params: tuple[tuple[str, Any], ...],
        lacking: Sequence[tuple[ScoredRun, str]],
        reason: str = "",
    ) -> Missing:
        systems = dict.fromkeys(scored_run.run.version.system.name for scored_run, _ in lacking)
        name, targets = metrics.get(metric).name, join_words(description for _, description in lacking)
        description = f"{name} ({format_values(dict(params))}) of {targets}" if params else f"{name} of {targets}"
        command = ["manage.py", "score", "--project", self.project.slug, "--metric", metric]
        command += [word for name in systems for word in ("--system", name)]
        command += [word for name, value in params for word in ("--set", f"{name}={option_value(value)}")]
        page = f"/projects/{self.project.slug}/results"
        return Missing(
            description,
            shlex.join(command),
            page,
            reason,
            [scored_run.run.pk for scored_run, _ in lacking],
            metric,
            dict(params),
        )

    def _outdated_input_steps(self) -> list[Missing]:
        """Return the step for summaries whose inputs have changed."""
        outdated_runs = [
            (scored_run, f"{count} of the {scored_run.summaries} summaries of {scored_run.label}")
            for scored_run in self.runs
            if (count := self._inputs.get(scored_run.run.pk))
        ]
        if not outdated_runs:
            return []
        description, page = (
            join_words(description for _, description in outdated_runs),
            f"/projects/{self.project.slug}/systems",
        )
        return [
            Missing(
                description,
                version_commands("generate", [scored_run.run for scored_run, _ in outdated_runs], "--again"),
                page,
                OLD_INPUTS,
            )
        ]

    def _no_summaries_step(self) -> list[Missing]:
        """Return the step for a project without summaries."""
        if self.runs:
            return []
        command = f"manage.py generate --project {self.project.slug} --system NAME"
        return [Missing("summaries of any system", command, f"/projects/{self.project.slug}/systems")]

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

    def hidden(self) -> list[str]:
        """Return a note if runs are hidden from this member."""
        return ["Runs that are embargoed for you are excluded."] if self.has_embargoed_runs else []

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
