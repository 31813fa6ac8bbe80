"""All facts of a project. The methods text, HEDS and the datasheet draw on them, so that no number differs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any

from evaluation.permissions import rates_in
from projects.models import Project

from ...citation.facts import Facts, facts
from ...sources import checks, state
from ...sources.options import ReleaseOptions
from .agreement import RoundAgreement
from .data import DataFacts, data_facts
from .guidelines import ChangeFacts, GuidelineFacts, changes_facts, guidelines_facts
from .judges import JudgeFacts, judge_facts
from .people import PeopleFacts, people_facts
from .ratings import RatingFacts, rating_facts
from .rounds import CurationFacts, RoundFacts, curation_facts, rounds_facts
from .systems import MetricFacts, SplitFacts, SystemFacts, metric_facts, split_facts, system_facts


@dataclass(frozen=True)
class CheckFacts:
    """A check before a release that does not pass. ``blocks``: it needs a reason."""

    title: str
    detail: str
    blocks: bool


@dataclass(frozen=True)
class ReleaseFacts:
    """The release that the text belongs to. ``version`` is empty if the text belongs to none."""

    version: str
    doi: str
    #: Date of the newest change to the data, YYYY-MM-DD.
    newest: str
    has_texts: bool
    checks: int
    failed: tuple[CheckFacts, ...]
    reason: str
    #: Number and digest of the newest audit checkpoint.
    checkpoint: tuple[int, str] | None
    #: Counts of the released targets by level (`LevelFigures.as_json`).
    levels: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class StudyFacts:
    """Facts about a project, from its rows and from what its leads state."""

    stated: Facts
    illustrative: bool
    data: DataFacts
    people: PeopleFacts
    guidelines: tuple[GuidelineFacts, ...]
    guideline_changes: tuple[ChangeFacts, ...]
    rounds: tuple[RoundFacts, ...]
    curation: CurationFacts
    splits: tuple[SplitFacts, ...]
    systems: tuple[SystemFacts, ...]
    metrics: tuple[MetricFacts, ...]
    ratings: tuple[RatingFacts, ...]
    judges: tuple[JudgeFacts, ...]
    release: ReleaseFacts

    def answer(self, *questions: str) -> str:
        """Return the lead's answer to the first of these questions that has one; else empty."""
        answers = (self.stated.answers.get(question, "").strip() for question in questions)
        return next(filter(None, answers), "")

    def as_json(self) -> dict[str, Any]:
        """Return the facts as plain values."""
        plain = {each.name: _plain(getattr(self, each.name)) for each in fields(self) if each.name != "stated"}
        stated = vars(self.stated) | {
            "creators": [creator.name for creator in self.stated.creators],
            "funders": [funder.name for funder in self.stated.funders],
            "related": [[row.relation, row.type, row.identifier] for row in self.stated.related],
        }
        return {"stated": stated} | plain


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def study_facts(
    project: Project,
    *,
    version: str = "",
    options: ReleaseOptions = ReleaseOptions(),  # noqa: B008 - frozen
    levels: Sequence[Mapping[str, Any]] = (),
    agreement: Mapping[int, RoundAgreement] | None = None,
    guideline_changes: Mapping[int, Mapping[str, Any]] | None = None,
) -> StudyFacts:
    """Return all facts.

    ``version`` and ``levels`` are those of the release that is written. ``agreement`` and ``guideline_changes``: what
    it has computed already, by round and by guideline version. The number of queries grows with the rounds only.
    """
    known = agreement or {}
    return StudyFacts(
        stated=facts(project),
        illustrative=project.illustrative,
        data=data_facts(project),
        people=people_facts(project),
        guidelines=guidelines_facts(project),
        guideline_changes=changes_facts(project, guideline_changes or {}),
        rounds=rounds_facts(project, known),
        curation=curation_facts(project),
        splits=split_facts(project),
        systems=system_facts(project),
        metrics=metric_facts(project),
        ratings=rating_facts(project, known),
        judges=() if version and rates_in(project) else judge_facts(project),
        release=_release(project, version, options, levels),
    )


def _release(
    project: Project, version: str, options: ReleaseOptions, levels: Sequence[Mapping[str, Any]]
) -> ReleaseFacts:
    rows = checks.run(project, options)
    head = state.audit_head(project)
    failed = tuple(CheckFacts(row["title"], row["detail"], row["blocks"]) for row in rows if not row["passed"])
    return ReleaseFacts(
        version=version,
        doi=options.doi,
        newest=state.newest_change(project)[:10],
        has_texts=options.has_texts,
        checks=len(rows),
        failed=failed,
        reason=options.reason if any(check.blocks for check in failed) else "",
        checkpoint=(head["number"], head["digest"]) if head else None,
        levels=tuple(levels),
    )
