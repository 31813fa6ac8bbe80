"""Figures of ratings, from what was said row by row: means and shares of systems, their differences, raters,
preferences, what papers print of some protocols, and metrics held against ratings, from the scores of single summaries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from measures.again.files import Folder
from measures.again.findings import Findings, Unusable
from measures.again.scores import SCORINGS, bounds_in, values_in
from measures.means import Bounds
from measures.ratings import RULE, Exclusions
from measures.ratings.judgements import REFERENCE, Choice
from measures.ratings.reading import AnswerRead, Preferred, Rated, Reading, SourceNamed, TextRead
from measures.ratings.released import released

ROUNDS, SOURCES, TEXTS = "ratings/rounds.jsonl", "ratings/sources.jsonl", "ratings/texts.csv"
RATINGS, PREFERENCES, FIGURES = "ratings/ratings.csv", "ratings/preferences.csv", "ratings/figures.jsonl"
Json = dict[str, Any]
#: Metric and figure in words -> (source, item, system) -> what it gave.
Scores = dict[str, dict[tuple[Any, Any, str], float | None]]
#: By page and code.
Texts = dict[tuple[str, str], TextRead]


class Released(Reading):
    """What was said in a round, as files of a release have it; `read` fills it."""

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
        there = any(each["run"] is None and each["name"] == REFERENCE for each in self.line["entrants"])
        return REFERENCE if there else ""

    def places(self, row: Mapping[str, str]) -> list[tuple[Any, Any, str]]:
        """Where a row of scores belongs: (source, item, system) of each source that its summary is of, held against
        what raters held it against or, of what has no target, against its own."""
        name = self._runs.get(int(row["run"]))
        if name is None:
            return []
        there = [self._sources[number] for number in self._of_unit.get(row["unit"], ())]
        return [(each.key, each.item, name) for each in there if row["reference"] in ("", each.target)]

    @cached_property
    def _runs(self) -> dict[int, str]:
        return {each["run"]: each["name"] for each in self.line["entrants"] if each["run"] is not None}

    @cached_property
    def _of_unit(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for (unit, _), number in self._numbers.items():
            found[unit].append(number)
        return found

    def add_source(self, row: Json) -> None:
        self._numbers[row["source"], row["target"] or ""] = row["number"]
        self._sources[row["number"]] = SourceNamed.of(
            unit=row["source"], target=row["target"], review=row["review"], number=row["target"], gold=row["gold"]
        )

    def add_text(self, row: Mapping[str, str]) -> None:
        """A row for each who wrote it, by number; of a check one of nobody."""
        key, number = (row["page"], row["text"]), self._numbers[row["source"], row["target"]]
        before = self._texts[key].systems if key in self._texts else ()
        systems = (*before, row["system"]) if row["system"] else before
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


def repeat(folder: Folder, findings: Findings) -> None:
    """Take the figures of every rating round anew. Raises `Unusable`."""
    try:
        rounds = {line["round"]: line for line in folder.lines(ROUNDS)}
        printed = {line["round"]: line for line in folder.lines(FIGURES)}
        wanted = {name for name in rounds if _is_to_repeat(folder, findings, name, printed.get(name))}
        if not wanted:
            return
        for name, read in _read(folder, {name: rounds[name] for name in wanted}).items():
            scored = printed[name].get("scored")
            if scored is None:
                findings.not_repeated.append(f"metrics against ratings of {name}: not all scores are in the release")
            try:
                again = released(read.figures(**_scored(folder, read, scored or {})), scored=scored is not None)
            except ImportError as error:
                findings.not_repeated.append(f"ratings of {name}: {error.name} is not installed")
                continue
            findings.compare(FIGURES, f"ratings of {name}", _by_name(printed[name]["figures"]), _by_name(again))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unusable(f"ratings: a row lacks what every release has ({error!r})") from None


def _is_to_repeat(folder: Folder, findings: Findings, name: str, line: Json | None) -> bool:
    """Whether the figures of a round can be repeated; else it is said why not."""
    if line is None:
        if folder.has(FIGURES):
            findings.find(f"{FIGURES}: the round {name} is not there")
        else:
            findings.not_repeated.append(f"ratings of {name}: the release has no figures of them")
    elif line["figures"] is None:
        findings.not_repeated.append(f"ratings of {name}: they were not reckoned when it was released")
    elif line["rule"] != RULE:
        findings.not_repeated.append(f"ratings of {name}: by another rule, {line['rule']}")
    else:
        return True
    return False


def _read(folder: Folder, rounds: Mapping[str, Json]) -> dict[str, Released]:
    found = {name: Released(line) for name, line in rounds.items()}
    for line in folder.lines(SOURCES):
        if line["round"] in found:
            found[line["round"]].add_source(line)
    for file, add in (
        (TEXTS, Released.add_text), (RATINGS, Released.add_rating), (PREFERENCES, Released.add_preference),
    ):  # fmt: skip
        for row in folder.rows(file):
            if row["round"] in found:
                add(found[row["round"]], row)
    return found


def _scored(folder: Folder, read: Released, named: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """``scores`` and ``bounds``, as `figures` takes them, of what is ``named``: words -> metric and figure."""
    words = {(metric, figure): name for name, (metric, figure) in named.items()}
    scores: Scores = {name: {} for name in named}
    bounds: dict[str, Bounds] = {}
    files: dict[str, str] = {}
    for line in folder.lines(SCORINGS):
        for figure, limits in bounds_in(line).items():
            if name := words.get((line["metric"], figure)):
                bounds[name], files[line["metric"]] = limits, line["scores"]
    for metric, file in files.items():
        for row in folder.rows(file):
            if places := read.places(row):
                for figure, value in values_in(row, file)[0].items():
                    if name := words.get((metric, figure)):
                        scores[name].update(dict.fromkeys(places, value))
    return {"scores": scores, "bounds": bounds}


def _by_name(value: Any) -> Any:
    """Rows of criteria, systems and raters by their names: so a difference tells where it is."""
    if isinstance(value, dict):
        return {key: _by_name(each) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    for name in ("metric", "criterion", "system", "rater"):
        if value and all(isinstance(each, dict) and name in each for each in value):
            rows: dict[str, list[Any]] = defaultdict(list)
            for each in value:
                rows[str(each[name])].append(_by_name(each))
            return dict(rows)
    return [_by_name(each) for each in value]
