"""Recompute what model judges are worth from their released ratings and those of people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from ..judges import RULE, Judged, JudgedChoice, JudgedRound, judge_figures
from ..judges.biases import Key
from ..judges.reading import PARTLY, chosen, judged, off_scale, points_of, why_not_sampled
from ..ratings import excluded
from ..ratings.judgements import DERIVED
from ..ratings.reading import SourceNamed
from .files import Findings, Folder, InvalidRelease
from .ratings import ROUNDS as RATED_ROUNDS
from .ratings import TEXTS, Released, by_name, read_rounds
from .statistics import ROUNDS

WORTH, RUNS, SOURCES = "judges/worth.jsonl", "judges/runs.jsonl", "judges/sources.jsonl"
RATINGS, PREFERENCES, FAILURES = "judges/ratings.csv", "judges/preferences.csv", "judges/failures.csv"
#: Separator between systems that wrote the same text.
BETWEEN = " | "
Json = dict[str, Any]
Row = Mapping[str, str]
#: Name of a page, and its source.
Page = tuple[str, str]


def recompute(folder: Folder, findings: Findings) -> None:
    """Recompute the counts of every run, and the figures of every judge. Raise `InvalidRelease` for invalid files."""
    if not folder.has(RUNS):
        return
    try:
        runs = {line["run"]: _Run(line) for line in folder.lines(RUNS)}
        for run, file, row in _rows(folder, runs):
            run.add(file, row)
        for run in runs.values():
            for name, count in run.counts().items():
                findings.compare(RUNS, f"run {run.line['run']}, {name}", run.line[name], count)
            run.check_followed(findings)
        lines = [line for line in folder.lines(WORTH) if _is_recomputable(line, runs[line["run"]], findings)]
        wanted = {runs[line["run"]].line["round"] for line in lines}
        rated = {line["round"]: line for line in folder.lines(RATED_ROUNDS) if line["round"] in wanted}
        designs = {line["round"]: line for line in folder.lines(ROUNDS)}
        rounds = {name: _Round(read, designs[name]["sampling"]) for name, read in read_rounds(folder, rated).items()}
        for row in folder.rows(TEXTS):
            if row["round"] in rounds:
                rounds[row["round"]].add_text(row)
        for source in folder.lines(SOURCES):
            if source["round"] in rounds:
                rounds[source["round"]].add_source(source)
        for line in lines:
            run = runs[line["run"]]
            _compare(line, run, rounds[run.line["round"]], findings)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRelease(f"judges: a row lacks a required field ({error!r})") from None


class _Run:
    """The answers of a run, as the rows of the release contain them."""

    def __init__(self, line: Json) -> None:
        self.line = line
        self.ratings: list[Row] = []
        self.choices: list[Row] = []
        self._valid: set[str] = set()
        self._failed: set[str] = set()
        self._controls: set[str] = set()
        #: File of each page, and whether the judge followed an instruction in a text there.
        self._followed: dict[Page, tuple[str, str]] = {}
        #: Values of each answer to a page, without and with the suspicious sentences.
        self._values: dict[tuple[Page, str, str], dict[str, set[tuple[str, ...]]]] = defaultdict(
            lambda: defaultdict(set)
        )

    def add(self, file: str, row: Row) -> None:
        page = row["page"], row["source"]
        self._followed[page] = file, row["is_followed"]
        if file == FAILURES:
            self._failed.add(row["answer"])
        else:
            self._valid.add(row["answer"])
            value = tuple(row.get(name, "") for name in ("text", "left", "criterion", "value", "na", "choice"))
            self._values[page, row["sample"], row["order"]][row["control"]].add(value)
        if row["control"]:
            self._controls.add(row["answer"])
        elif row["is_followed"] != "true" and file == RATINGS:
            self.ratings.append(row)
        elif row["is_followed"] != "true" and file == PREFERENCES:
            self.choices.append(row)

    @property
    def judge(self) -> str:
        return f"{self.line['judge']} v{self.line['number']}"

    def counts(self) -> dict[str, int]:
        return {"valid": len(self._valid), "failed": len(self._failed), "controls": len(self._controls)}

    def check_followed(self, findings: Findings) -> None:
        """Compare whether a value of each page changed without the suspicious sentences."""
        changed: dict[Page, bool] = {}
        for (page, _, _), values in self._values.items():
            if len(values) > 1:
                changed[page] = changed.get(page, False) or len({frozenset(each) for each in values.values()}) > 1
        for page, (file, printed) in self._followed.items():
            recomputed = {None: "", True: "true", False: "false"}[changed.get(page)]
            findings.compare(file, f"run {self.line['run']}, {page[0]}, is_followed", printed, recomputed)

    def facts(self, sources: int) -> Json:
        failed = self._failed - self._controls
        answers = len((self._valid | self._failed) - self._controls)
        return {
            "answers": answers,
            "failed": len(failed),
            "followed": sum(each == "true" for _, each in self._followed.values()),
            "sources": sources,
        }


class _Round:
    """A rating round with the texts that judges were asked about."""

    def __init__(self, read: Released, sampling: Json) -> None:
        self.read, self.sampling = read, sampling
        self.lengths: dict[Key, int] = {}
        #: Texts of each set of sources that only judges rated.
        self.sets: dict[int, set[Key]] = defaultdict(set)

    def add_text(self, row: Row) -> None:
        if row["is_check"] == "false":
            source = _source(row)
            self.lengths[source.key, source.item, row["system"]] = len(row["shown"].split())

    def add_source(self, line: Json) -> None:
        source = _source(line)
        self.sets[line["set"]] |= {
            (source.key, source.item, system)
            for page in line["pages"]
            for text in page["texts"]
            for system in text["systems"]
        }

    def data(self, run: _Run, *, is_partly_judged: bool) -> JudgedRound:
        people, judgements, preferences = self.read, self.read.judgements, self.read.preferences
        if people.rules.any:
            judgements, preferences, _ = excluded(judgements, preferences, people.rules, people.checks)
        criteria, number = people.written["criteria"], run.line["set"]
        beside = off_scale(criteria)
        sampled = ""
        if number is not None:
            sampled = why_not_sampled(self.sampling) or (PARTLY if is_partly_judged else "")
        return JudgedRound(
            judgements,
            [each for row in run.ratings for each in _judged(row, beside)],
            [each for each in people.criteria if DERIVED not in each.key],
            preferences,
            [each for row in run.choices for each in _chosen(row)],
            set(self.lengths) | (self.sets[number] if number is not None else set()),
            self.lengths,
            run.line["own_systems"],
            points_of(criteria),
            sampled,
        )


def _source(row: Mapping[str, Any]) -> SourceNamed:
    return SourceNamed.of(
        unit=row["source"], target=row["target"] or None, review=row["review"], number=row["target"], gold=None
    )


def _judged(row: Row, beside: set[tuple[str, str]]) -> list[Judged]:
    return judged(
        _source(row),
        row["systems"].split(BETWEEN),
        code=row["text"],
        criterion=row["criterion"],
        value=None if row["na"] == "true" else row["value"],
        position=int(row["place"]),
        order=int(row["order"]),
        sample=int(row["sample"]),
        beside=beside,
    )


def _chosen(row: Row) -> list[JudgedChoice]:
    return chosen(
        _source(row),
        row["left_systems"].split(BETWEEN),
        row["right_systems"].split(BETWEEN),
        criterion=row["criterion"],
        choice=row["choice"],
        order=int(row["order"]),
        sample=int(row["sample"]),
    )


def _rows(folder: Folder, runs: Mapping[int, _Run]) -> Iterator[tuple[_Run, str, Row]]:
    for file in (RATINGS, PREFERENCES, FAILURES):
        for row in folder.rows(file):
            yield runs[int(row["run"])], file, row


def _is_recomputable(line: Json, run: _Run, findings: Findings) -> bool:
    """Whether the figures of a run can be recomputed. If not, record the reason."""
    name = f"worth of {run.judge} on {run.line['round']}"
    if line["figures"] is None:
        findings.not_recomputed.append(f"{name}: not computed at the time of the release")
    elif line["rule"] != RULE:
        findings.not_recomputed.append(f"{name}: computed by another rule: {line['rule']}")
    else:
        return True
    return False


def _compare(line: Json, run: _Run, round: _Round, findings: Findings) -> None:
    printed = line["figures"]
    names = {each["key"]: each["name"] or each["key"] for each in round.read.written["criteria"]}
    # Which sources exist beside the judged ones is not in a release. The printed reasons say whether there are some.
    is_partly_judged = PARTLY in _reasons(printed)
    data = round.data(run, is_partly_judged=is_partly_judged)
    facts = run.facts(len(round.read.sources))
    figures = judge_figures(data, group=line["group"], judge=run.judge, names=names, facts=facts) | {"names": names}
    subject = f"run {line['run']}, {run.judge} on {run.line['round']}"
    findings.compare(WORTH, subject, by_name(printed), by_name(figures))
    for name, value in (("round", run.line["round"]), ("judge", run.judge)):
        findings.compare(WORTH, f"{subject}, {name}", line[name], value)


def _reasons(figures: Json) -> set[str]:
    rows = [row for each in figures["criteria"] for row in (*each["systems"], *each["pairs"])]
    return {row[name] for row in rows for name in ("ci_reason", "human_ci_reason") if name in row}
