"""Sections on annotation rounds, agreement, adjudication and corrections."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..facts.agreement import Coefficient, Measure, Repeated, RoundAgreement, Spans
from ..facts.drift import DriftFacts
from ..facts.guidelines import ChangeFacts, GuidelineFacts
from ..facts.rounds import GoldFacts, RoundFacts
from ..facts.study import StudyFacts
from ..facts.suggestions import SuggestionFacts
from ..text import Section, are, capitalised, count, day, figure, interval, listed, of_total, quoted, share
from . import gates

#: What people do in a round, by its purpose.
PURPOSES = {
    "gold standard": "to form the gold standard",
    "reliability study": "to measure agreement",
    "correction": "to confirm or correct current values",
    "collection": "to collect every answer",
}


def sections(facts: StudyFacts) -> Iterator[Section]:
    rounds = [round for round in facts.rounds if not round.is_rating]
    yield _rounds(rounds, facts.guidelines)
    yield _agreement(rounds)
    yield _accuracy(rounds)
    yield _adjudication(facts, rounds)
    yield _corrections(rounds)
    yield _guideline_changes(facts.guideline_changes)


def _rounds(rounds: Sequence[RoundFacts], guidelines: Sequence[GuidelineFacts]) -> Section:
    section = Section("Annotation rounds")
    for round in rounds:
        section.say(_round(round))
    kinds = {round.kind for round in rounds}
    used = [version for version in guidelines if version.kind in kinds]
    for title, versions in groupby(used, key=lambda version: version.title):
        section.say(_guideline(title, list(versions)))
    return section


def _guideline(title: str, versions: list[GuidelineFacts]) -> str:
    each = [f"{version.number} of {day(version.written_on)} (SHA-256 {version.sha256[:12]})" for version in versions]
    return f"The guideline of the task {quoted(title)} has {count(len(each), 'version')}: {listed(each)}."


def _round(round: RoundFacts) -> Iterator[str]:
    what = f"the round {quoted(round.name)} (task “{round.title}”, {PURPOSES.get(round.purpose, round.purpose)})"
    if round.is_blind:
        yield f"{capitalised(what)} has {count(round.units, 'unit')}."
        yield "It is still blind, so it is not described further."
        return
    people, units = count(round.people, "person", "people"), count(round.units, "unit")
    if round.answers:
        yield f"In {what}, {people} gave {count(round.answers, 'answer')} to {units}."
    else:
        yield f"{capitalised(what)} has {units} and no answers yet."
    yield _time(round)
    yield _sample(round)
    yield from _design(round)
    yield f"Guideline: version {round.guideline.number}."
    yield from _conditions(round)
    yield from _irregular(round)


def _time(round: RoundFacts) -> str:
    opened, closed = day(round.opened_on), round.closed_on and day(round.closed_on)
    end = f"It was open from {opened} to {closed}." if closed != opened else f"It was opened and closed on {opened}."
    return f"It was opened on {opened} and is not closed." if round.is_open or not closed else end


def _sample(round: RoundFacts) -> str:
    given = {name.replace("_", " "): value for name, value in round.filters.items() if value not in (None, "", [], {})}
    match = f" that matched {listed(f'{name} = {_value(value)}' for name, value in given.items())}" if given else ""
    if round.sample is None:
        return f"The units were all units of the task{match}."
    strata = f", stratified by {listed(round.strata)}" if round.strata else ""
    return (
        f"The units were a random sample of {round.sample:,} units of the task{match}{strata}, drawn with the seed "
        f"{round.seed}."
    )


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _design(round: RoundFacts) -> Iterator[str]:
    people = count(round.overlap, "person", "people")
    seeded = f", in an order shuffled with the seed {round.seed}" if round.is_shuffled else ""
    queue = (
        "taken from a shared queue"
        if round.allocation == "shared queue"
        else f"allocated in advance (seed {round.seed})"
    )
    yield f"Each unit was planned for {people}; units were {queue}{seeded}."
    if round.block:
        part, each = round.block
        yield (
            f"An overlap sample of {share(part)} of the units, drawn with the seed, was planned for "
            f"{count(each, 'person', 'people')}."
        )
    if round.repeats:
        part, distance = round.repeats
        after = count(distance, "other unit")
        yield f"{share(part)} of each person's units came a second time, after at least {after}."
    if round.repeated:
        yield f"{count(round.repeated, 'answer')} {are(round.repeated)} given to units that came a second time."
    if round.is_rolling:
        yield "Units that became eligible while the round was open were added."


def _conditions(round: RoundFacts) -> Iterator[str]:
    if round.gate:
        yield from gates.sentences(round.gate)
    if round.practice:
        yield f"People had to pass the practice round {quoted(round.practice)} first."
    if round.asks_questions:
        yield "People had to answer questions about the guideline first."
    if round.suggestions:
        yield "People saw suggested values, so their agreement is not that of independent labelling."


def _irregular(round: RoundFacts) -> Iterator[str]:
    if round.skipped:
        yield f"Units were skipped {count(round.skipped, 'time')}; the reasons are in the files of answers."
    if round.by_sheet:
        yield f"{count(round.by_sheet, 'answer')} {are(round.by_sheet)} entered in spreadsheets."
    if round.by_import:
        yield f"{count(round.by_import, 'answer')} {are(round.by_import)} given outside the software and imported."


def _agreement(rounds: Sequence[RoundFacts]) -> Section:
    section = Section("Agreement")
    methods: dict[str, None] = {}
    for round in rounds:
        if round.agreement is None:
            continue
        methods |= {each.interval_method: None for each in round.agreement.measures if _has_interval(each)}
        section.say(_of_round(round, round.agreement))
    if methods:
        section.say(f"Method of the intervals: {listed(methods)}.")
    return section


def _has_interval(measure: Measure) -> bool:
    return any(coefficient.ci for coefficient in measure.coefficients)


def _of_round(round: RoundFacts, agreement: RoundAgreement) -> Iterator[str]:
    name = quoted(round.name)
    if not agreement.measures and not agreement.spans:
        yield f"In {name}, agreement is undefined: {_why(round)}."
        return
    figures = [measure_words(measure) for measure in agreement.measures]
    figures += [_spans(what, list(spans)) for what, spans in groupby(agreement.spans, key=lambda each: each.name)]
    figures += [_repeated(repeated) for repeated in agreement.repeats]
    yield f"In {name}, {figures[0]}."
    yield from (f"{capitalised(words)}." for words in figures[1:])


def _why(round: RoundFacts) -> str:
    if round.overlap == 1 and not round.block:
        return "each unit has the answer of 1 person"
    return "there are no answers to compare" if not round.answers else "the task has no scale"


def measure_words(measure: Measure, keys: Sequence[str] = ("ac2", "ac1", "alpha"), noun: str = "unit") -> str:
    """Return the coefficients of a measure with intervals and n, without a full stop. ``noun``: what was compared."""
    weighted = "" if measure.weights == "identity" else f" ({measure.weights} weights)"
    found = [each for key in keys for each in [measure.coefficient(key)] if each]
    values = [f"{_coefficient(each, measure.level, weighted if each.key == 'ac2' else '')}" for each in found]
    over = f" from {count(measure.over, 'review')}" if measure.over is not None else ""
    raters = count(measure.raters, "rater")
    basis = f"n = {count(measure.units, noun)}{over}, {count(measure.ratings, 'rating')} by {raters}"
    agreed = f"; all raters agreed on {of_total(measure.agreed, measure.agreed_of, noun)}" if measure.agreed_of else ""
    return f"agreement on {measure.name} was {', and '.join(values)}; {basis}{agreed}"


def _coefficient(coefficient: Coefficient, level: float, weights: str) -> str:
    name = f"{coefficient.name}{weights}"
    if coefficient.value is None:
        return f"undefined for {name} ({coefficient.undefined})"
    between = interval(coefficient.ci, level) if coefficient.ci else coefficient.ci_reason
    return f"{figure(coefficient.value)} by {name}" + (f", {between}" if between else "")


def _spans(name: str, spans: list[Spans]) -> str:
    values = [
        f"undefined by the {each.method} ({each.undefined})"
        if each.value is None
        else f"{figure(each.value)} ({each.method}; n = {count(each.pairs, 'pair')})"
        for each in spans
    ]
    return f"agreement on {name} was {listed(values)}"


def _repeated(repeated: Repeated) -> str:
    of = of_total(repeated.agreed, repeated.units, "repeated unit")
    value = f"undefined ({repeated.undefined})" if repeated.value is None else figure(repeated.value)
    return f"people repeated their answer on {repeated.name} in {of} ({repeated.coefficient}: {value})"


def _accuracy(rounds: Sequence[RoundFacts]) -> Section:
    section = Section("Accuracy during rounds")
    for round in rounds:
        if round.drift:
            section.say(_returned(round, round.drift))
    return section


def _returned(round: RoundFacts, drift: DriftFacts) -> Iterator[str]:
    yield (
        f"In {quoted(round.name)}, {share(drift.share)} of the units were gold items that returned unmarked; people "
        f"were warned if their recent answers to them showed an accuracy below {drift.bar}%."
    )
    if not drift.answers:
        yield "No such item was answered."
        return
    people = count(drift.people, "person", "people")
    yield f"{people} answered {of_total(drift.right, drift.answers, 'such item')} correctly."
    warned = count(drift.warned, "person was", "people were") if drift.warned else "No person was"
    yield f"{warned} warned."
    if drift.recovered:
        yield f"{count(drift.recovered, 'person', 'people')} recovered."
    if drift.practised:
        yield f"{count(drift.practised, 'person', 'people')} got a practice round."


def _adjudication(facts: StudyFacts, rounds: Sequence[RoundFacts]) -> Section:
    section = Section("Adjudication")
    decided = 0
    for round in rounds:
        if gold := round.gold:
            decided += gold.decided
            section.say(_gold(round, gold))
    if decided:
        section.say("The adjudication page shows answers without their authors, unless a curator asks for them.")
    if n := facts.curation.edits:
        section.say(
            f"{count(facts.curation.people, 'curator')} entered or corrected {count(n, 'value')} outside of rounds."
        )
    return section


def _gold(round: RoundFacts, gold: GoldFacts) -> str:
    origins = [
        f"{gold.single:,} from a single answer" if gold.single else "",
        f"{gold.unanimous:,} unanimous" if gold.unanimous else "",
        f"{gold.majority:,} by majority" if gold.majority else "",
        f"{gold.contested:,} contested" if gold.contested else "",
    ]
    total = gold.single + gold.unanimous + gold.majority + gold.contested
    text = f"In {quoted(round.name)}, {count(total, 'value')} {are(total)} aggregated: {listed(filter(None, origins))}."
    if gold.decided:
        text += f" Curators decided {count(gold.decided, 'value')}."
    if gold.waiting:
        text += f" {count(gold.waiting, 'value')} {'waits' if gold.waiting == 1 else 'wait'} for a curator."
    return text


def _corrections(rounds: Sequence[RoundFacts]) -> Section:
    section = Section("Corrections")
    for round in rounds:
        if review := round.corrections:
            fields = [f"{name} {of_total(changed, shown)}" for name, shown, changed in review.fields]
            by_field = f": {listed(fields)}" if len(fields) > 1 else ""
            section.say(
                f"In {quoted(round.name)}, people saw {count(review.reviewed, 'current value')}, and corrected "
                f"{of_total(review.corrected, review.reviewed)}{by_field}."
                if review.reviewed
                else ""
            )
        if round.suggested:
            section.say(_suggestions(round, round.suggested))
    return section


def _suggestions(round: RoundFacts, facts: SuggestionFacts) -> Iterator[str]:
    yield (
        f"In {quoted(round.name)}, the model {facts.model} (suggestions {quoted(facts.name)}, version "
        f"{facts.version[:12]}) suggested values: {count(facts.shown, 'answer')} {are(facts.shown)} given with a "
        f"suggestion and {facts.blind:,} without ({facts.blind_share}% planned)."
    )
    for each in facts.fields:
        yield (
            f"{capitalised(each.field.replace('_', ' '))}: {each.accepted:,} accepted, {each.edited:,} edited and "
            f"{each.rejected:,} rejected; answers equal the suggestion in {of_total(*each.same_shown)} with it and in "
            f"{of_total(*each.same_blind)} without."
        )
    times = [
        f"{seconds:,.0f} s {how} (n = {n:,})"
        for how, (seconds, n) in (("with", facts.seconds_shown), ("without", facts.seconds_blind))
        if seconds is not None
    ]
    if times:
        yield f"The median working time was {listed(times)}."
    yield facts.conclusion


def _guideline_changes(changes: Sequence[ChangeFacts]) -> Section:
    section = Section("Guideline changes")
    for change in changes:
        section.say(_guideline_change(change))
    return section


def _guideline_change(change: ChangeFacts) -> Iterator[str]:
    fields = [f"{field}{f' ({listed(values)})' if values else ''}" for field, values in change.concerns]
    version = f"Version {change.number} of the guideline of the task {quoted(change.title)} ({day(change.written_on)})"
    yield f"{version} concerned {listed(fields) or 'all answers'}. Reason: {quoted(change.reason)}."
    if not change.concerned:
        yield "No unit had been answered or decided with such a value."
        return
    changed = f"{count(change.changed, 'unit has', 'units have')} another value since" if change.changed else ""
    revisited = f"{count(change.revisited, 'unit')} {are(change.revisited)} revisited"
    of = count(change.concerned, "unit")
    yield f"It concerned {of}; {revisited}{f', and {changed}' if changed else ', and no value changed'}."
    if change.changes:
        each = [f"{field} from {before} to {after} in {count(n, 'unit')}" for field, before, after, n in change.changes]
        yield f"Changes: {listed(each)}."
