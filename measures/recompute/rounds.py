"""Recompute what gates read of their pilots, and the accuracy of raters on returning gold items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from .. import drift
from ..agreement.bars import GOLD, LEVEL, REQUIRES, Bar, Figures, figures, obstacles
from .agreement import REPORTS
from .files import Findings, Folder, InvalidRelease
from .statistics import ROUNDS

RETURNED = "agreement/returned.csv"
OPENED = "opened by a lead"
Json = dict[str, Any]


def recompute_gates(folder: Folder, findings: Findings) -> None:
    """Recompute the figures of every gate from the report of its pilot. Raise `InvalidRelease` for invalid files."""
    try:
        gates = {line["round"]: line["gate"] for line in folder.lines(ROUNDS) if line.get("gate")}
        if not gates:
            return
        pilots = {gate["pilot"] for gate in gates.values()}
        reports = {line["round"]: line["report"] for line in folder.lines(REPORTS) if line["round"] in pilots}
        for name, gate in gates.items():
            for number, reading in enumerate(gate["readings"], start=1):
                subject = f"gate of {name}, reading {number}"
                _compare_reading(gate, reading, reports.get(gate["pilot"]), subject, findings)
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        raise InvalidRelease(f"{ROUNDS}: a gate lacks a required field ({error!r})") from None


def _compare_reading(gate: Json, reading: Json, report: Json | None, subject: str, findings: Findings) -> None:
    if reading["figures"] is None:
        if reading["outcome"] != OPENED:
            findings.not_recomputable.append(f"{subject}: the pilot is still blind")
        return
    if gate["level"] != LEVEL:
        findings.not_recomputed.append(f"{subject}: bounds have another level: {gate['level']}")
        return
    printed = Figures(**reading["figures"])
    if reading["outcome"] != OPENED:
        requires = next(each for each in REQUIRES if each == gate["requires"])
        bar = Bar(gate["measure"], gate["coefficient"], requires, gate["number"], gate["least_units"])
        reasons = obstacles(bar, printed)
        findings.compare(ROUNDS, f"{subject}, outcome", reading["outcome"], "not met" if reasons else "met")
        findings.compare(ROUNDS, f"{subject}, why", reading["why"], f"{'; '.join(reasons)}." if reasons else "")
    if report is None:
        findings.not_recomputed.append(f"{subject}: the release has no agreement of its pilot")
        return
    measure = next((each for each in report["measures"] if each["name"] == gate["measure"]), None)
    read = figures(measure, gate["coefficient"])
    if read.method != printed.method:
        findings.not_recomputed.append(f"{subject}: computed by another rule: {printed.method}")
    elif gate["coefficient"] == GOLD and not _equals(reading["figures"], read.as_json()):
        findings.not_recomputable.append(f"{subject}: gold was decided anew after it was read")
    else:
        findings.compare(ROUNDS, f"{subject}, figures", reading["figures"], read.as_json())


def _equals(printed: Json, recomputed: Json) -> bool:
    findings = Findings()
    findings.compare("", "", printed, recomputed)
    return findings.count == 0


def recompute_returned(folder: Folder, findings: Findings) -> None:
    """Recompute the accuracy of every rater on returning items. Raise `InvalidRelease` for invalid files."""
    series: dict[tuple[str, str], list[tuple[int, bool]]] = defaultdict(list)
    try:
        for row in folder.rows(RETURNED):
            series[row["round"], row["rater"]].append((int(row["number"]), row["correct"] == "true"))
        for line in folder.lines(ROUNDS):
            returned = line["sampling"].get("returned")
            if not returned or line["blind"] or "raters" not in returned:
                continue
            name = line["round"]
            raters = [rater for round, rater in series if round == name]
            correct = {rater: [each for _, each in sorted(series[name, rater])] for rater in raters}
            stated = {rater["rater"]: rater for rater in returned["raters"]}
            findings.compare(ROUNDS, f"round {name}, returning items, raters", sorted(stated), sorted(correct))
            answers = _count_answers(folder, f"answers/{line['kind']}.csv", name)
            findings.compare(ROUNDS, f"round {name}, returning items, answers", returned["answers"], answers)
            for rater in stated.keys() & correct.keys():
                subject = f"round {name}, returning items, {rater}"
                _compare_rater(returned, stated[rater], correct[rater], subject, findings)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidRelease(f"{RETURNED}: a row, or a round, lacks a required field ({error!r})") from None


def _count_answers(folder: Folder, file: str, name: str) -> int:
    rows = folder.rows(file)
    return len(
        {
            row["answer"]
            for row in rows
            if row["round"] == name and row["slot"] == "returned" and row["current"] == "true"
        }
    )


def _compare_rater(
    returned: Json, stated: Mapping[str, Any], correct: Sequence[bool], subject: str, findings: Findings
) -> None:
    recomputed = drift.accuracy(correct)
    findings.compare(ROUNDS, subject, {name: stated[name] for name in recomputed}, recomputed)
    if not stated["warnings_are_current"]:
        findings.not_recomputable.append(f"{subject}, warnings: answers or gold are newer than the last check")
        return
    warnings = [
        {name: each[name] for name in drift.STATED} | {"recovered": each["recovered_at"] is not None}
        for each in stated["warnings"]
    ]
    horizon = drift.horizon_of(returned["items"])
    findings.compare(ROUNDS, f"{subject}, warnings", warnings, drift.warnings(correct, returned["bar"], horizon))
