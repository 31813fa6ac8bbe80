"""Checks of written texts against the passages and the options of their round."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from textwrap import shorten
from typing import Any, NamedTuple

from annotation.kinds.write.options import ALL, LIMIT_UNIT, LIMITS_REFUSE, PASSAGE, joiner_of, types_of
from annotation.models import SummaryForm
from api.problems import Refused
from measures.written import CountUnit, count
from projects.kinds import Value

Step = Mapping[str, Any]


class AskedStep(NamedTuple):
    """A text that a round asks for. ``passage``: its key, or "" for all passages. ``limit``: None for none."""

    passage: str
    form: SummaryForm
    limit: int | None

    @property
    def words(self) -> str:
        return f"{self.passage or 'all passages'}, {self.form}"


def asked_steps(passages: Iterable[str], options: Mapping[str, Any]) -> list[AskedStep]:
    """Return the texts to write for a question with these passages (keys): passage by passage, then all."""
    asked = types_of(options)
    each = [one for one in asked if one.scope == PASSAGE]
    steps = [AskedStep(key, one.form, options.get(one.limit)) for key in passages for one in each]
    return steps + [AskedStep("", one.form, options.get(one.limit)) for one in asked if one.scope == ALL]


def check_steps(value: Value, texts: Mapping[str, str], options: Mapping[str, Any]) -> None:
    """Raise `Refused` with the first text or chunk that does not fit. ``texts``: the passages asked about, by key."""
    asked = {(step.passage, step.form): step for step in asked_steps(texts, options)}
    given = set()
    for number, step in enumerate(value["steps"]):
        field = f"value.steps.{number}"
        wanted = asked.get((step["passage"], SummaryForm(step["form"])))
        if wanted is None:
            raise Refused.field(field, f"This round does not ask for this text: {step['passage']}, {step['form']}.")
        given.add(wanted[:2])
        _check_chunks(step, texts, field)
        if step["chunks"] and step["text"] != joiner_of(options).join(chunk["quote"] for chunk in step["chunks"]):
            raise Refused.field(f"{field}.text", f"{wanted.words}: the text differs from its chunks, joined.")
        if options.get(LIMITS_REFUSE) and wanted.limit:
            unit: CountUnit = options.get(LIMIT_UNIT) or "words"
            if (n := count(step["text"], unit)) > wanted.limit:
                raise Refused.field(f"{field}.text", f"{wanted.words}: {n} {unit}; at most {wanted.limit} are allowed.")
    if missing := [step.words for key, step in asked.items() if key not in given]:
        raise Refused.field("value.steps", f"Not done yet: {'; '.join(missing)}.")


def _check_chunks(step: Step, texts: Mapping[str, str], field: str) -> None:
    ranges: dict[str, list[tuple[int, int, int]]] = {}
    for number, chunk in enumerate(step["chunks"]):
        key, start, end = chunk["passage"], chunk["start"], chunk["end"]
        at = f"{field}.chunks.{number}"
        where = f"Chunk {number + 1}, {key} from {start} to {end}"
        if key not in texts or step["passage"] not in ("", key):
            raise Refused.field(at, f"{where}: this passage is not summarised here.")
        text = texts[key]
        if not start < end <= len(text):
            raise Refused.field(at, f"{where}, is no part of the passage, which has {len(text)} characters.")
        if text[start:end] != chunk["quote"]:
            read, quoted = shorten(text[start:end], 80), shorten(chunk["quote"], 80)
            raise Refused.field(at, f"{where}: the passage reads {read!r}, not {quoted!r}.")
        ranges.setdefault(key, []).append((start, end, number))
    for key, of_passage in ranges.items():
        for one, other in pairwise(sorted(of_passage)):
            if other[0] < one[1]:
                message = f"Chunk {other[2] + 1} overlaps chunk {one[2] + 1} in {key}, {other[0]} to {one[1]}."
                raise Refused.field(f"{field}.chunks.{other[2]}", message)


def shown_steps(steps: Sequence[AskedStep]) -> list[dict[str, Any]]:
    return [step._asdict() for step in steps]
