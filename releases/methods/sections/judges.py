"""Section on models as judges."""

from collections.abc import Iterator

from ..facts.judges import JudgeFacts
from ..facts.study import StudyFacts
from ..text import Section, are, count, day, of_total, one_line, quoted
from .evaluation import QUOTED


def sections(facts: StudyFacts) -> Iterator[Section]:
    section = Section("Models as judges")
    for judge in facts.judges:
        section.say(_judge(judge, has_texts=facts.release.has_texts))
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
