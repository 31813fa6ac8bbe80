"""Facts about the agreement of a round, from its report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Coefficients to cite, in their order. A scale has AC1 or AC2, by its weights.
CITED = {"ac2": "Gwet's AC2", "ac1": "Gwet's AC1", "alpha": "Krippendorff's alpha"}


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its interval, or the reason why either is missing."""

    key: str
    name: str
    value: float | None
    ci: tuple[float, float] | None = None
    ci_reason: str = ""
    undefined: str = ""


@dataclass(frozen=True)
class Measure:
    """Agreement on one scale. ``over``: number of clusters of the interval; None if units are independent."""

    name: str
    weights: str
    metric: str
    level: float
    units: int
    over: int | None
    raters: int
    ratings: int
    agreed: int
    agreed_of: int
    interval_method: str
    coefficients: tuple[Coefficient, ...]

    def coefficient(self, key: str) -> Coefficient | None:
        return next((each for each in self.coefficients if each.key == key), None)


@dataclass(frozen=True)
class Spans:
    """Agreement on marked or written texts."""

    name: str
    method: str
    value: float | None
    pairs: int
    undefined: str = ""


@dataclass(frozen=True)
class Repeated:
    """Agreement of people with their own earlier answers, on one scale."""

    name: str
    coefficient: str
    value: float | None
    units: int
    agreed: int
    undefined: str = ""


@dataclass(frozen=True)
class RoundAgreement:
    """Agreement of one round."""

    answers: int
    measures: tuple[Measure, ...]
    spans: tuple[Spans, ...] = ()
    repeats: tuple[Repeated, ...] = ()
    suggestions_shown: bool = False
    attention_checks: int = 0

    def measure(self, name: str) -> Measure | None:
        return next((each for each in self.measures if each.name == name), None)


def agreement_of(report: Mapping[str, Any]) -> RoundAgreement:
    """Return the facts of a report."""
    return RoundAgreement(
        answers=report["answers"],
        measures=tuple(_measure(each) for each in report["measures"] if each["ratings"]),
        spans=tuple(
            Spans(each["name"], each["method"], each["value"], each["pairs"], each["undefined"] or "")
            for each in report["spans"]
        ),
        repeats=tuple(_repeated(each) for each in (report.get("repeats") or {}).get("measures", ())),
        suggestions_shown=bool(report.get("suggestions_shown")),
        attention_checks=report.get("attention_checks", 0),
    )


def _measure(measure: Mapping[str, Any]) -> Measure:
    figures, undefined = measure["coefficients"], measure["undefined"]
    return Measure(
        name=measure["name"],
        weights=measure["weights"],
        metric=measure["metric"],
        level=measure["level"],
        units=measure["units"],
        over=measure["reviews"] if measure["cite"] == "reviews" else None,
        raters=measure["raters"],
        ratings=measure["ratings"],
        agreed=measure["all_agree"]["count"],
        agreed_of=measure["all_agree"]["of"],
        interval_method=measure.get("interval_method", ""),
        coefficients=tuple(
            _coefficient(key, name, figures.get(key), undefined.get(key, ""))
            for key, name in CITED.items()
            if key in figures or key in undefined
        ),
    )


def _coefficient(key: str, name: str, figure: Mapping[str, Any] | None, undefined: str) -> Coefficient:
    if figure is None:
        return Coefficient(key, name, None, undefined=undefined)
    ci: Sequence[float] | None = figure.get("ci")
    reason = figure.get("ci_reason") or ""
    return Coefficient(key, name, figure["value"], (ci[0], ci[1]) if ci else None, "" if ci else reason)


def _repeated(measure: Mapping[str, Any]) -> Repeated:
    agreed = measure["all_agree"]["count"]
    name = CITED[measure["coefficient"]]
    return Repeated(measure["name"], name, measure["value"], measure["units"], agreed, measure["undefined"] or "")
