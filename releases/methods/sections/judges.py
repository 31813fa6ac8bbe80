"""Section on models as judges."""

from collections.abc import Iterator

from ..facts.judges import JudgeFacts, SystemMeans
from ..facts.study import StudyFacts
from ..text import Section, are, count, day, figure, interval, of_total, one_line, quoted
from .evaluation import QUOTED

#: What the means of a criterion are, by its kind.
MEANS = {
    "mean": "mean ratings",
    "share": "shares",
    "best-worst": "best-worst scores",
    "preference": "shares of preferences",
}


def sections(facts: StudyFacts) -> Iterator[Section]:
    section = Section("Models as judges")
    for judge in facts.judges:
        section.say(_judge(judge, has_texts=facts.release.has_texts))
        section.say(_means(judge))
    if facts.judges:
        section.say(
            "Ratings by models are stored apart from those of people: neither gold nor agreement includes them."
        )
    yield section


def _judge(judge: JudgeFacts, *, has_texts: bool) -> Iterator[str]:
    family = f"; family {one_line(judge.family)}" if judge.family else ""
    yield (
        f"The judge {quoted(judge.name)}, version {judge.version} (digest {judge.digest[:12]}; model "
        f"{one_line(judge.model)}{family}), rated the pages of the round {quoted(judge.round)}"
        + (f" on {day(judge.finished_on)}." if judge.is_done and judge.finished_on else ".")
    )
    if judge.other_sources:
        yield f"It also rated {count(judge.other_sources, 'source')} that no person rated."
    yield _where(judge)
    yield from _prompt(judge, has_texts=has_texts)
    yield f"Decoding: {'; '.join(f'{name}: {one_line(value)}' for name, value in judge.decoding)}."
    yield from _answers(judge)
    yield from _instructions(judge)
    estimated = " (partly estimated)" if judge.tokens_are_estimated else ""
    yield f"It read {count(judge.tokens_in, 'token')} and wrote {judge.tokens_out:,}{estimated}."
    if judge.cost is not None:
        yield f"Cost: {judge.currency} {judge.cost:.2f}."
    yield from judge.worth


def _where(judge: JudgeFacts) -> str:
    if not judge.host:
        return "The model ran on the server of the project."
    where = "outside the server" if judge.is_outside else "in the private network of the server"
    reason = f"; texts of unknown licence were sent for the reason {quoted(judge.licence_reason)}"
    return f"The model ran at {one_line(judge.host)}, {where}{reason if judge.licence_reason else ''}."


def _prompt(judge: JudgeFacts, *, has_texts: bool) -> Iterator[str]:
    reasons = ", and gave a reason before each value" if judge.asks_reasons else ""
    yield f"It read the protocol and the pages that raters read{reasons}."
    if judge.instruction:
        is_quoted = has_texts and len(judge.instruction) <= QUOTED
        text = f": {quoted(judge.instruction)}" if is_quoted else ""
        yield f"It also read an additional instruction, which raters did not see{text}."


def _answers(judge: JudgeFacts) -> Iterator[str]:
    orders = " in each of 2 orders of its texts" if judge.both_orders else ""
    yield (
        f"It was asked for {count(judge.requested, 'answer')}, with {count(judge.samples, 'sample')} per page{orders}; "
        f"{of_total(judge.valid, judge.answers, 'answer')} {are(judge.valid)} valid."
    )
    if judge.invalid:
        n = judge.invalid
        yield f"{count(n, 'attempt')} {are(n)} invalid; invalid answers were repeated and never repaired."
    if judge.failed:
        yield f"{count(judge.failed, 'answer')} stayed without a valid value."
    if not judge.is_done:
        yield "The run did not end, so it has not asked every page."


def _instructions(judge: JudgeFacts) -> Iterator[str]:
    if n := judge.controlled:
        them = "it" if n == 1 else "them"
        yield f"{count(n, 'page')} had sentences like instructions to a judge, and {are(n)} asked again without them."
        yield f"The answer changed on {judge.followed:,} of {them}."


def _means(judge: JudgeFacts) -> Iterator[str]:
    if not judge.means:
        return
    yield (
        f"Means of systems were estimated from the ratings of people alone, and together with the sources that only "
        f"{quoted(judge.name)} rated (prediction-powered means, PPI++; Angelopoulos et al., 2023). Intervals are "
        "clustered by source."
    )
    for means in judge.means:
        systems = "; ".join(map(_system, means.systems))
        yield f"{one_line(means.criterion)} ({MEANS.get(means.kind, means.kind)}): {systems}."


def _system(means: SystemMeans) -> str:
    name, sources = one_line(means.system), count(means.n, "source")
    if means.human is None:
        return f"{name} undefined ({means.undefined})"
    people = f"{_with_interval(means.human, means.human_ci, means.human_ci_reason)} (n = {sources})"
    if means.value is None:
        return f"{name} {people}; with the judge undefined ({means.undefined})"
    powered = _with_interval(means.value, means.ci, means.ci_reason)
    return f"{name} {people}; with {count(means.others, 'source')} of the judge {powered}"


def _with_interval(value: float, ci: tuple[float, float] | None, reason: str) -> str:
    between = interval(ci, 0.95) if ci else reason
    return f"{figure(value)}" + (f", {between}" if between else "")
