"""The scorings that tables use, and the steps that make tables complete and current."""

import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from generation.results.tables import building
from projects.reports.registry import TableContext
from projects.reports.table import Missing

from ... import metrics
from ...models import Run, Scoring
from ...scoring.computing import has_current_means, summaries_of
from ...scoring.unseen import Unseen
from .scored_run import ScoredRun
from .seen import without_seen
from .wording import changed_params, format_values, join_words, option_value, version_commands

CORRECTED = "the texts they were compared with were corrected or removed since"
OLD_INPUTS = "their inputs were corrected since they were generated"

#: Non-default parameters -> the runs that lack scores, with a description of what is missing.
_RunsByParams = defaultdict[tuple[tuple[str, Any], ...], list[tuple[ScoredRun, str]]]


class ScoredRuns(TableContext):
    """Runs with the latest finished scoring of each metric. Subclasses set the runs."""

    every_run: list[ScoredRun]
    #: The runs of the table.
    runs: list[ScoredRun]
    #: Whether runs are left out because they are hidden from the reader.
    has_embargoed_runs = False
    #: Figures without units that a model has seen, if the table leaves them out.
    unseen: Unseen | None

    @cached_property
    def _scorings(self) -> dict[tuple[str, int], Scoring]:
        shown = (
            Scoring.objects.latest_finished()
            .filter(run__in=[scored_run.run for scored_run in self.every_run])
            .select_related("run__version")
        )
        current = [without_seen(self.unseen, each) for each in shown] if self.unseen else shown
        return {(scoring.metric, scoring.run_id): scoring for scoring in current}

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
        """Return the step for a project without summaries. Hidden ones are not missing: a note names them."""
        if self.runs or self.has_embargoed_runs:
            return []
        command = f"manage.py generate --project {self.project.slug} --system NAME"
        return [Missing("summaries of any system", command, f"/projects/{self.project.slug}/systems")]
