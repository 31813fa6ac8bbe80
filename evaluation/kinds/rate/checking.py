"""Check the ratings of a page against its protocol and texts. Works on plain values without queries."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.problems import Refused
from measures.span_agreement import as_cell, codes_of_cell
from projects.kinds import check_fragments
from projects.spreadsheets.cells import number_text

from ...protocols.parts import MARKED, NONE, Condition, Content, Criterion

Json = Mapping[str, Any]


def check(content: Content, texts: Mapping[str, str], studies: Sequence[str], value: Json) -> None:
    """Raise `Refused` with the path of the first fault. ``texts`` maps codes to the shown texts."""
    said = [one["text"] for one in value["texts"]]
    if sorted(said) != sorted(texts):
        raise Refused.field("value.texts", "Expected exactly one rating of each text of the page.")
    for n, one in enumerate(value["texts"]):
        _Text(content, texts[one["text"]], studies, f"value.texts.{n}.said", one["said"]).check()


def holds(condition: Condition | None, said: Mapping[str, Json]) -> bool:
    """Whether the condition for asking a criterion is met by the earlier answers."""
    if condition is None:
        return True
    earlier = said.get(condition.criterion)
    return earlier is not None and ("" if earlier["na"] else earlier["value"]) in condition.values


class _Text:
    def __init__(self, content: Content, text: str, studies: Sequence[str], at: str, said: Sequence[Json]) -> None:
        self.content, self.text, self.studies, self.at, self.said = content, text, studies, at, said
        self.by_criterion = {one["criterion"]: one for one in said}

    def check(self) -> None:
        if len(self.by_criterion) != len(self.said):
            raise Refused.field(self.at, "Expected at most one answer per criterion.")
        asked = {c.key: c for c in self.content.criteria if holds(c.shown_if, self.by_criterion)}
        for n, one in enumerate(self.said):
            at = f"{self.at}.{n}"
            if one["criterion"] not in asked:
                raise Refused.field(
                    f"{at}.criterion", f"{one['criterion']!r} is not in the protocol, or its condition is not met."
                )
            self._one(asked[one["criterion"]], one, at)
        for key, criterion in asked.items():
            if criterion.required and key not in self.by_criterion:
                raise Refused.field(self.at, f"{criterion.name or key} has no answer.")

    def _one(self, criterion: Criterion, one: Json, at: str) -> None:
        if one["na"]:
            if not criterion.na:
                raise Refused.field(f"{at}.na", "This criterion cannot be answered as not applicable.")
            if one["value"] or one["spans"]:
                raise Refused.field(
                    f"{at}.value", "Expected no value, because the criterion is marked as not applicable."
                )
        elif fault := _fault(criterion, one):
            raise Refused.field(f"{at}.value", fault)
        if not one["na"] and one["value"] in criterion.reason.required_at and not one["reason"].strip():
            raise Refused.field(f"{at}.reason", "Give a reason.")
        for n, span in enumerate(one["spans"]):
            self._marked(criterion, span, f"{at}.spans.{n}")
        for n, quote in enumerate(one["quotes"]):
            self._quoted(quote, f"{at}.quotes.{n}")

    def _marked(self, criterion: Criterion, span: Json, at: str) -> None:
        _in_text(self.text, span, at)
        for name, options in (("category", criterion.scale.options), ("severity", criterion.scale.severities)):
            allowed = [option.value for option in options]
            if (span[name] or allowed) and span[name] not in allowed:
                raise Refused.field(f"{at}.{name}", f"One of: {', '.join(allowed) or 'none here'}.")
        if criterion.scale.reason == "required" and not span["reason"].strip():
            raise Refused.field(f"{at}.reason", "A reason is required for each marked passage.")

    def _quoted(self, quote: Json, at: str) -> None:
        if quote["in"] == "summary":
            _in_text(self.text, quote, at)
        elif quote["study"] >= len(self.studies):
            raise Refused.field(f"{at}.study", f"The source has {len(self.studies)} texts.")
        else:
            _in_text(self.studies[quote["study"]], quote, at)


def _in_text(text: str, span: Json, at: str) -> None:
    check_fragments(text, [span], at)


def _fault(criterion: Criterion, one: Json) -> str:
    scale, value = criterion.scale, one["value"]
    allowed = [option.value for option in scale.options]
    if scale.type != "spans" and one["spans"]:
        return "Expected no marked passages: this criterion has no span scale."
    match scale.type:
        case "likert" | "categorical" | "best-worst":
            return "" if value in allowed else f"One of: {', '.join(allowed)}."
        case "multi-label":
            codes = codes_of_cell(value)
            return (
                ""
                if codes <= set(allowed) and as_cell(codes) == value
                else f"Expected values from: {', '.join(allowed)}."
            )
        case "slider":
            return _slider_fault(criterion, value)
        case "spans":
            return (
                ""
                if value == (MARKED if one["spans"] else NONE)
                else "Expected marked if passages are marked, else none."
            )
        case "text":
            return "" if value.strip() or not criterion.required else "A text."
    return "This criterion applies only to comparisons of two texts."


def _slider_fault(criterion: Criterion, value: str) -> str:
    low, high, step = criterion.scale.minimum or 0, criterion.scale.maximum or 0, criterion.scale.step or 1
    try:
        number = float(value)
    except ValueError:
        return "A number."
    steps = (number - low) / step
    if not low <= number <= high or abs(steps - round(steps)) > 1e-6:
        return f"Expected a number from {number_text(low)} to {number_text(high)} in steps of {number_text(step)}."
    # Agreement compares strings, so 3.50 and 3.5 would be different categories.
    return "" if value == number_text(number) else f"Expected the form {number_text(number)}."
