"""Recompute the figures of rating rounds from the released rows.

These are means and shares by system, differences, raters, preferences, protocol-specific figures, and the correlation
of metrics with ratings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from measures import former
from measures.clustered import Bounds
from measures.ratings import ADDED, FORMER_RULE, RULE, RULE_6, Exclusions
from measures.ratings.judgements import REFERENCE, Choice
from measures.ratings.reading import AnswerRead, Preferred, Rated, Reading, SourceNamed, TextRead
from measures.recompute.files import Folder
from measures.recompute.scores import SCORINGS, bounds_in, values_in

from ..ratings.m3 import WAYS, released
from .files import Findings, InvalidRelease

ROUNDS, SOURCES, TEXTS = "ratings/rounds.jsonl", "ratings/sources.jsonl", "ratings/texts.csv"
RATINGS, PREFERENCES, FIGURES = "ratings/ratings.csv", "ratings/preferences.csv", "ratings/figures.jsonl"
Json = dict[str, Any]
#: Name of metric and figure -> (source, item, system) -> score.
Scores = dict[str, dict[tuple[Any, Any, str], float | None]]
#: Texts by page and code.
Texts = dict[tuple[str, str], TextRead]


class Released(Reading):
    """The answers of a round as a release contains them. `read` fills the instance."""

    def __init__(self, line: Json) -> None:
        self.line = line
        self.written = line["protocol"]["content"]
        self._numbers: dict[tuple[str, str], int] = {}
        self._sources: dict[int, SourceNamed] = {}
        self._texts: Texts = {}
        self._rated: list[Rated] = []
        self._preferred: list[Preferred] = []

    @property
    def rules(self) -> Exclusions:
        return Exclusions.declared(self.line["exclusions"])

    @cached_property
    def sources(self) -> Mapping[int, SourceNamed]:
        return self._sources

    @cached_property
    def rated(self) -> list[Rated]:
        return self._rated

    @cached_property
    def preferred(self) -> list[Preferred]:
        return self._preferred

    @cached_property
    def reference(self) -> str:
        has_reference = any(system["run"] is None and system["name"] == REFERENCE for system in self.line["entrants"])
        return REFERENCE if has_reference else ""

    def places(self, row: Mapping[str, str]) -> list[tuple[Any, Any, str]]:
        """Return (source, item, system) of each source to which a row of scores belongs.

        A row belongs to a source if its reference is the source's target. A row without reference belongs to all
        sources of its unit.
        """
        name = self._runs.get(int(row["run"]))
        if name is None:
            return []
        sources = [self._sources[number] for number in self._of_unit.get(row["unit"], ())]
        return [(source.key, source.item, name) for source in sources if row["reference"] in ("", source.target)]

    @cached_property
    def _runs(self) -> dict[int, str]:
        return {system["run"]: system["name"] for system in self.line["entrants"] if system["run"] is not None}

    @cached_property
    def _of_unit(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = defaultdict(list)
        for (unit, _), number in self._numbers.items():
            numbers[unit].append(number)
        return numbers

    def add_source(self, row: Json) -> None:
        self._numbers[row["source"], row["target"] or ""] = row["number"]
        self._sources[row["number"]] = SourceNamed.of(
            unit=row["source"], target=row["target"], review=row["review"], number=row["target"], gold=row["gold"]
        )

    def add_text(self, row: Mapping[str, str]) -> None:
        """Add one row of a text.

        A text has a row for each system that produced it; an attention check has one without system.
        """
        key, number = (row["page"], row["text"]), self._numbers[row["source"], row["target"]]
        systems_before = self._texts[key].systems if key in self._texts else ()
        systems = (*systems_before, row["system"]) if row["system"] else systems_before
        self._texts[key] = TextRead(number, row["text"], systems, row["is_check"] == "true", row["made_from"])

    def add_rating(self, row: Mapping[str, str]) -> None:
        value = None if row["na"] == "true" else row["value"]
        text = self._texts[row["page"], row["text"]]
        self._rated.append((_answer(row), text, row["criterion"], value, int(row["place"])))

    def add_preference(self, row: Mapping[str, str]) -> None:
        left, right = (self._texts[row["page"], row[side]] for side in ("left", "right"))
        self._preferred.append((_answer(row), left, right, row["criterion"], cast(Choice, row["choice"])))


def _answer(row: Mapping[str, str]) -> AnswerRead:
    return AnswerRead(row["rater"], row["page"], int(row["active_ms"]), int(row["repeat"]))


def recompute(folder: Folder, findings: Findings) -> None:
    """Recompute the figures of every rating round. Raise `InvalidRelease` for invalid files."""
    try:
        rounds = {line["round"]: line for line in folder.lines(ROUNDS)}
        printed = {line["round"]: line for line in folder.lines(FIGURES)}
        wanted = {name for name in rounds if _is_recomputable(folder, findings, name, printed.get(name))}
        if not wanted:
            return
        for name, released_round in read_rounds(folder, {name: rounds[name] for name in wanted}).items():
            scored = printed[name].get("scored")
            if scored is None:
                findings.not_recomputed.append(f"metrics against ratings of {name}: not all scores are in the release")
            try:
                is_former = printed[name]["rule"] == FORMER_RULE
                with former.rule(is_former):
                    recomputed = released(
                        released_round.figures(**_scored(folder, released_round, scored or {})),
                        scored=scored is not None,
                    )
            except ImportError as error:
                findings.not_recomputed.append(f"ratings of {name}: {error.name} is not installed")
                continue
            if printed[name]["rule"] != RULE:
                # Earlier rules do not have these figures.
                for way in filter(None, (recomputed[each] for each in WAYS)):
                    for added in ADDED:
                        del way[added]
            printed_figures, computed_figures = by_name(printed[name]["figures"]), by_name(recomputed)
            if is_former:
                computed_figures = former.in_former_words(printed_figures, computed_figures)
            findings.compare(FIGURES, f"ratings of {name}", printed_figures, computed_figures)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRelease(f"ratings: a row lacks a required field ({error!r})") from None


def _is_recomputable(folder: Folder, findings: Findings, name: str, line: Json | None) -> bool:
    """Whether the figures of a round can be recomputed. If not, record the reason."""
    if line is None:
        if folder.has(FIGURES):
            findings.add_difference(f"{FIGURES}: the round {name} is missing")
        else:
            findings.not_recomputed.append(f"ratings of {name}: the release has no such figures")
    elif line["figures"] is None:
        findings.not_recomputed.append(f"ratings of {name}: not computed at the time of the release")
    elif line["rule"] not in (RULE, RULE_6, FORMER_RULE):
        findings.not_recomputed.append(f"ratings of {name}: computed by another rule: {line['rule']}")
    else:
        return True
    return False


def read_rounds(folder: Folder, rounds: Mapping[str, Json]) -> dict[str, Released]:
    released_rounds = {name: Released(line) for name, line in rounds.items()}
    for line in folder.lines(SOURCES):
        if line["round"] in released_rounds:
            released_rounds[line["round"]].add_source(line)
    for file, add in (
        (TEXTS, Released.add_text),
        (RATINGS, Released.add_rating),
        (PREFERENCES, Released.add_preference),
    ):
        for row in folder.rows(file):
            if row["round"] in released_rounds:
                add(released_rounds[row["round"]], row)
    return released_rounds


def _scored(folder: Folder, read: Released, figures_by_name: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return ``scores`` and ``bounds`` for `figures`. ``figures_by_name`` maps names to (metric, figure)."""
    names = {(metric, figure): name for name, (metric, figure) in figures_by_name.items()}
    scores: Scores = {name: {} for name in figures_by_name}
    bounds: dict[str, Bounds] = {}
    files: dict[str, str] = {}
    for line in folder.lines(SCORINGS):
        for figure, limits in bounds_in(line).items():
            if name := names.get((line["metric"], figure)):
                bounds[name], files[line["metric"]] = limits, line["scores"]
    for metric, file in files.items():
        for row in folder.rows(file):
            if places := read.places(row):
                for figure, value in values_in(row, file)[0].items():
                    if name := names.get((metric, figure)):
                        scores[name].update(dict.fromkeys(places, value))
    return {"scores": scores, "bounds": bounds}


def by_name(value: Any) -> Any:
    """Convert lists of criteria, systems and raters to mappings by name, so that a difference shows its position."""
    if isinstance(value, dict):
        return {key: by_name(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    for name in ("metric", "criterion", "system", "rater", "annotator"):
        if value and all(isinstance(item, dict) and name in item for item in value):
            rows: dict[str, list[Any]] = defaultdict(list)
            for item in value:
                rows[str(item[name])].append(by_name(item))
            return dict(rows)
    return [by_name(item) for item in value]
