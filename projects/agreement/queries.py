"""Agreement report of a round: counted answers, coded by their kind, computed by ``measures.agreement``."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from itertools import chain, groupby
from operator import itemgetter
from sys import intern
from typing import Any

from django.db.models import Count

from measures.agreement import Review, RoundAnswers, coded, corrections, self_consistency
from measures.unit_names import unit_name
from measures.writers import Written
from measures.writers import agreement as agreement_of_writers

from .. import kinds
from ..adjudication import queries as adjudication_queries
from ..answers.assignments import Shape
from ..answers.queries import counted, counted_parts
from ..gold.queries import current_values, parts_of
from ..models import Reference, Round, Unit
from ..models.round import RETURNED
from ..reports.writing import escaped, number
from ..suggestions.report import suggestion_report

#: Approximate number of answers that are loaded at a time.
CHUNK = 1000
UnitAnswer = tuple[Unit, str, kinds.Value]
Progress = Callable[[int, int | None, str], None]


def answers_by_chunk(round: Round) -> Iterator[list[UnitAnswer]]:
    """Yield (unit, pseudonym, value) of every counted answer, in chunks of whole units, in assignment order.

    Units have only id and key. Columns are read instead of objects, because a round may have 100,000 answers.
    """
    for part in _chunks_with_ids(round):
        yield [(unit, pseudonym, value) for unit, pseudonym, value, _ in part]


def _chunks_with_ids(round: Round) -> Iterator[list[tuple[Unit, str, kinds.Value, Any]]]:
    """Yield the chunks of `answers_by_chunk`, with the UUID of each answer."""
    kind = kinds.get(round.kind)
    columns = ("pk", "assignment__position", "assignment__unit", "assignment__unit__key", "author__pseudonym")
    parts = counted_parts(round, assignment__repeat=0)
    for rows in _whole_units(chain.from_iterable(part.values_list(*columns) for part in parts)):
        values = kind.values(row[0] for row in rows)
        units = {pk: Unit(pk=pk, key=key) for _, _, pk, key, _ in rows}
        yield [(units[unit], intern(pseudonym), values[pk], pk) for pk, _, unit, _, pseudonym in rows]


def _whole_units(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows in chunks of about `CHUNK`. Rows of one position, and so of one unit, stay together."""
    part: list[tuple[Any, ...]] = []
    for _, of_one in groupby(rows, key=itemgetter(1)):
        part += of_one
        if len(part) >= CHUNK:
            yield part
            part = []
    if part:
        yield part


def rating_rows(kind: kinds.Kind, unit: Unit, rater: str, value: kinds.Value) -> list[tuple[str, str, kinds.Row]]:
    """Return (item, rater, cells) for each row of an answer. An item is a unit or a part of one."""
    return [(_item(unit.key, row[kind.part] if kind.part else ""), rater, row) for row in kind.rows(value)]


def _without_checks(
    kind: kinds.Kind, units: Iterable[int], rated_units: Iterable[tuple[int, list[tuple[str, str, kinds.Row]]]]
) -> list[tuple[int, tuple[str, str, kinds.Row]]]:
    """Return (unit id, rated row) pairs, without attention checks."""
    checks = kind.checks_among(units)
    return [
        (pk, row)
        for pk, rows in rated_units
        for row in rows
        if not checks or not checks & {(pk, ""), (pk, row[2].get(kind.part, ""))}
    ]


def answered_checks(round: Round) -> list[str]:
    """Return the answered attention checks, which the report leaves out: keys of units, or of parts of units."""
    checks = _checks_of(round)
    keys = dict(Unit.objects.filter(pk__in={pk for pk, _ in checks}).values_list("pk", "key")) if checks else {}
    return sorted(_item(keys[pk], part) for pk, part in checks)


def _checks_of(round: Round) -> Set[tuple[int, str]]:
    answered = counted(round).order_by().values_list("assignment__unit", flat=True).distinct()
    return kinds.get(round.kind).checks_among(answered)


def _item(unit: str, part: str) -> str:
    return f"{unit} {part}" if part else unit


def report(round: Round, *, progress: Progress | None = None) -> dict[str, Any]:
    """Return the whole report, as ``agreement --format json`` prints it.

    Items are unit keys, followed by the name of the part where a unit has parts.
    """
    kind = kinds.get(round.kind)
    if not round.meaning.independent:
        return heading(round) | _not_independent(round)
    scales, comparisons = kind.scales_of(round), kind.comparisons_of(round)
    with_texts = any(comparison.of_spans for comparison in comparisons)
    round_answers = RoundAnswers(scales, comparisons)
    texts_of_writers: list[Written] = []
    for chunk in answers_by_chunk(round):
        units = {unit.pk: unit for unit, _, _ in chunk}
        rows = _without_checks(
            kind, units, ((unit.pk, rating_rows(kind, unit, rater, value)) for unit, rater, value in chunk)
        )
        # The review and the text of a unit apply to each of its parts.
        item_of = [(item, pk) for pk, (item, _, _) in rows]
        of_unit, text_of = kind.reviews(units), kind.texts(units) if with_texts else {}
        reviews = {item: of_unit.get(pk, units[pk].key) for item, pk in item_of}
        texts: dict[Hashable, str] = {item: text_of[pk] for item, pk in item_of if pk in text_of}
        round_answers.add([row for _, row in rows], texts, reviews)
        round_answers.add_gold(_gold(round, list(units.values())))
        if kind.compares_writers:
            texts_of_writers += [
                Written.from_cells(unit.key, rater, cells) for unit, rater, value in chunk for cells in kind.rows(value)
            ]
        if progress:
            progress(round_answers.answers, None, "reading answers")

    def measuring(name: str) -> None:
        if progress:
            progress(round_answers.answers, round_answers.answers, f"measuring {name}")

    figures = round_answers.report(
        units=units_to_measure(round),
        seed=resampling_seed(round),
        overlap=planned_ratings_per_item(round),
        progress=measuring,
    )
    repeats = _repeat_agreement(round)
    checks = {unit for unit, _ in _checks_of(round)}
    left_out = {"attention_checks": len(checks)} if checks else {}
    assisted = {"suggestions_shown": True} if kind.shows_suggestions(round) else {}
    if kind.compares_writers:
        measuring("agreement of writers")
        figures |= {"writing": agreement_of_writers(texts_of_writers)}
    return heading(round) | figures | left_out | assisted | ({"repeats": repeats} if repeats else {})


def units_to_measure(round: Round) -> int:
    """Return the number of units of a round that are not attention checks."""
    units = round.assignments.filter(repeat=0).order_by().values_list("unit", flat=True).distinct()
    return round.units_count - sum(not part for _, part in kinds.get(round.kind).checks_among(units))


def _not_independent(round: Round) -> dict[str, Any]:
    """Return the figures of a round whose annotators knew or saw the current values.

    Such a round has no agreement between raters. If it reviews current values, report the corrections.
    """
    answers = counted(round).filter(assignment__repeat=0).order_by()
    figures = answers.aggregate(answers=Count("pk"), units_answered=Count("assignment__unit", distinct=True))
    raters = sorted(answers.values_list("author__pseudonym", flat=True).distinct())
    result: dict[str, Any] = figures | {"raters": raters, "measures": [], "spans": []}
    if round.suggestions:
        return result | {"suggestions_shown": True, "suggestions": suggestion_report(round)}
    if not round.meaning.shows_value:
        return result
    return result | {"review": corrections(kinds.get(round.kind).scales_of(round), [r for _, r in reviews(round)])}


def reviews(round: Round) -> Iterator[tuple[Any, Review]]:
    """Yield (answer id, review) for each answer whose annotator was shown a value."""
    kind = kinds.get(round.kind)
    fields = set(kind.fields_of(round))
    order = {name: n for n, name in enumerate(kind.fields_of(round))}
    for chunk in _chunks_with_ids(round):
        by_answer: dict[Any, list[Reference]] = {}
        for reference in Reference.objects.filter(answer__in=[pk for *_, pk in chunk]).select_related("decision"):
            by_answer.setdefault(reference.answer_id, []).append(reference)
        shown_parts = parts_of(
            list({unit.pk: unit for unit, *_ in chunk}.values()),
            kind.key,
            list(
                {
                    r.decision_id: r.decision for answer_references in by_answer.values() for r in answer_references
                }.values()
            ),
        )
        review_of = kind.reviews({unit.pk for unit, *_ in chunk})
        for unit, rater, value, pk in chunk:
            if references := sorted(by_answer.get(pk, []), key=lambda r: order[r.decision.field]):
                before = kind.merged([shown_parts[reference.decision_id] for reference in references])
                same = {r.decision.field: r.same for r in references}
                whole = fields <= set(same)
                yield (
                    pk,
                    Review(
                        f"{unit.key} {rater}",
                        same,
                        _side_by_side(kind, before, value) if whole else [],
                        review_of.get(unit.pk, unit.key),
                    ),
                )


def _side_by_side(kind: kinds.Kind, before: kinds.Value, value: kinds.Value) -> list[tuple[str, kinds.Row, kinds.Row]]:
    """Return (part, shown row, given row) for each part of the unit that has both rows."""
    shown_rows = {row.get(kind.part, ""): row for row in kind.rows(before)}
    return [(part, shown_rows[part], row) for row in kind.rows(value) if (part := row.get(kind.part, "")) in shown_rows]


def planned_ratings_per_item(round: Round) -> float:
    """Return the planned number of people per unit: the overlap, or the mean if there is an overlap block."""
    shape = Shape.of(round.overlap, round.sampling)
    return shape.count(round.units_count) / round.units_count if shape.block_share else round.overlap


def _repeat_agreement(round: Round) -> dict[str, Any] | None:
    repeats = (
        counted(round)
        .filter(assignment__repeat__gt=0, assignment__repeat__lt=RETURNED)
        .values_list("pk", "assignment__unit", "author")
    )
    repeat_answers = {(unit, author): pk for pk, unit, author in repeats}
    if not repeat_answers:
        return None
    firsts = counted(round).filter(assignment__repeat=0, assignment__unit__in={unit for unit, _ in repeat_answers})
    first = {(unit, author): pk for pk, unit, author in firsts.values_list("pk", "assignment__unit", "author")}
    kind = kinds.get(round.kind)
    pairs = {key: (first[key], pk) for key, pk in repeat_answers.items() if key in first}
    values = kind.values(pk for pair in pairs.values() for pk in pair)
    rated_units = (
        (unit, rating_rows(kind, Unit(pk=unit, key=f"{unit}/{author}"), time, values[pk]))
        for (unit, author), pair in pairs.items()
        for time, pk in zip(("first", "again"), pair, strict=True)
    )
    rows = [row for _, row in _without_checks(kind, {unit for unit, _ in pairs}, rated_units)]
    return self_consistency(kind.scales_of(round), rows, seed=resampling_seed(round))


def resampling_seed(round: Round) -> int:
    """Return the seed for resampling: the round's seed, or its id in blind rounds.

    In a blind round, the seed would reveal the order in which people saw the texts that they judge.
    """
    return round.pk if kinds.get(round.kind).blind else round.seed


def heading(round: Round) -> dict[str, Any]:
    """Return the fields of the report that describe the round."""
    return {
        "round": round.name,
        "project": round.project.slug,
        "kind": round.kind,
        "purpose": round.purpose,
        "status": round.status,
        "overlap": round.overlap,
        "units": round.units_count,
        **({"rater_group": round.rater_group} if round.rater_group else {}),
    }


def gold_of(round: Round) -> dict[str, dict[str, str]]:
    """Return gold by scale and unit key. Return an empty dictionary if the round is not compared with gold."""
    answers = counted(round).filter(assignment__repeat=0).order_by("assignment__unit").distinct()
    units = answers.values_list("assignment__unit", "assignment__unit__key")
    return _gold(round, [Unit(pk=pk, key=key) for pk, key in units])


def _gold(round: Round, units: list[Unit]) -> dict[str, dict[str, str]]:
    """Return gold of the given units, by scale and unit key."""
    if not round.meaning.held_against_gold:
        return {}
    kind = kinds.get(round.kind)
    by_pk = {unit.pk: unit for unit in units}
    values = current_values(units, round.kind) | kind.expected_values(by_pk)
    fields = set(kind.fields_of(round))
    rated_units = ((pk, rating_rows(kind, by_pk[pk], "gold", v)) for pk, v in values.items() if fields <= set(v))
    rows_with_gold = [row for _, row in _without_checks(kind, by_pk, rated_units)]
    scales = kind.scales_of(round)
    gold = {name: {unit: value for unit, _, value in rows} for name, rows in coded(scales, rows_with_gold).items()}
    return gold if rows_with_gold else {}


#: Coefficients to cite, in order of preference. AC2 weights the distances of an ordered scale.
NAMES = {"ac2": "Gwet's AC2", "ac1": "Gwet's AC1"}


def citation(measure: Mapping[str, Any]) -> dict[str, str]:
    """Return the sentence to cite, as text and as LaTeX. Both are empty if there are no ratings."""
    text = _sentence(measure) if measure["ratings"] else ""
    return {"text": text, "latex": escaped(text)}


def _sentence(measure: Mapping[str, Any]) -> str:
    ratings, units, raters = measure["ratings"], measure["units"], measure["raters"]
    basis = f"{_count_noun(ratings, 'rating')} of {_count_noun(units, 'unit')} by {_count_noun(raters, 'rater')}"
    coefficients = measure["coefficients"]
    key = next((key for key in NAMES if key in coefficients), None)
    if key is None:
        why = next((measure["undefined"][key] for key in NAMES if key in measure["undefined"]), "too few ratings")
        return f"Agreement on {measure['name']} is not defined ({basis}): {why}."
    value = f"{NAMES[key]} = {number(coefficients[key]['value'], 2)}{_interval(coefficients[key], measure)}"
    weights = "" if measure["weights"] == "identity" else f", {measure['weights']} weights"
    return f"Agreement on {measure['name']} was {value}{weights}, from {basis}{_raw_agreement(measure)}."


def _interval(coefficient: Mapping[str, Any], measure: Mapping[str, Any]) -> str:
    if not coefficient["ci"]:
        return f", {coefficient['ci_reason']}"
    over = _count_noun(measure["reviews"], "review") if measure["cite"] == "reviews" else "units"
    return f" ({_range(coefficient['ci'], measure)} over {over}; {measure['interval_method']})"


def _range(ci: tuple[float, float], measure: Mapping[str, Any]) -> str:
    return f"{measure['level']:.0%} CI {number(ci[0], 2)} to {number(ci[1], 2)}"


def _raw_agreement(measure: Mapping[str, Any]) -> str:
    """Return the clause on raw agreement, which is not corrected for chance."""
    of = measure["all_agree"]["of"]
    if not of:
        return ""
    pairs = measure["coefficients"].get("percent_agreement")
    alike = f"; all agreed on {measure['all_agree']['count']:,} of {_count_noun(of, 'unit')}"
    return alike + (f", mean pairwise agreement {number(pairs['value'], 2)}" if pairs else "")


def _count_noun(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


Json = dict[str, Any]


def page(round: Round, report: Json, *, curates: bool) -> Json:
    """Return a computed report with citations, and with unit and text of its contested items.

    With ``curates``, mark the items that wait for adjudication. Use a fixed number of queries.
    """
    items = {row["item"] for measure in report["measures"] for row in measure["contested"]}
    units = _units(round, items)
    texts = kinds.get(round.kind).texts({pk for pk, _ in units.values()}) if units else {}
    queued = (
        {w.unit for w in adjudication_queries.queued_units(round)} if units and curates and not round.is_open else set()
    )

    def contested(row: Json) -> Json:
        unit, key = units.get(row["item"], (None, row["item"]))
        return row | {
            "unit": unit,
            "unit_name": unit_name(key),
            "text": texts.get(unit or 0, ""),
            "waits": unit in queued,
        }

    measures = [
        measure | {"citation": citation(measure), "contested": [contested(row) for row in measure["contested"]]}
        for measure in report["measures"]
    ]
    unmeasured = kinds.get(round.kind).unmeasured(round)
    return report | {"measures": measures} | ({"unmeasured": list(unmeasured)} if unmeasured else {})


def _units(round: Round, items: set[str]) -> dict[str, tuple[int, str]]:
    """Return the id and key of the unit of each item. An item is a unit key, or a key with a part. Run one query."""
    keys = {item: _prefixes(item) for item in items}
    candidate_keys = {key for beginnings in keys.values() for key in beginnings}
    # A corrected text keeps the key of the earlier one. Sort by id, so that the key maps to the newest unit.
    rows = Unit.objects.filter(project=round.project_id, key__in=candidate_keys, assignments__round=round).order_by(
        "pk"
    )
    ids = dict(rows.values_list("key", "pk")) if candidate_keys else {}
    return {item: (ids[key], key) for item, prefixes in keys.items() for key in prefixes if key in ids}


def _prefixes(item: str) -> list[str]:
    """Return each prefix of the item that ends before a space, and the whole item last."""
    words = item.split(" ")
    return [" ".join(words[: n + 1]) for n in range(len(words))]
