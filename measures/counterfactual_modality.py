"""Rules that change the modality of a claim, and the check against M3's modality changes."""

from __future__ import annotations

from collections.abc import Iterator

from measures.counterfactual_rules import Change, Rule, last_word, leading, matches, verbs
from measures.counterfactual_words import BOOSTERS, BY_FORM, HEDGES, VERBS

#: How M3 changed each modality: it hedged moderate claims and made weak and strong claims moderate.
OF_M3 = {"moderate": "weak", "weak": "moderate", "strong": "moderate"}


def unlike_m3(modality: str, target: str, text: str) -> str:
    """Return why a change of modality differs from M3's changes (`OF_M3`), or "" if it does not.

    The decision uses only the words of `HEDGES` and `BOOSTERS`.
    """
    hedges = _count(HEDGES, text) - _count(HEDGES, target)
    boosters = _count(BOOSTERS, text) - _count(BOOSTERS, target)
    if modality == "moderate" and hedges <= 0:
        return "M3 hedges a moderate claim, but no hedge was added."
    if modality == "weak" and (boosters > 0 or hedges >= 0):
        return "M3 makes a weak claim moderate: remove a hedge and add no booster."
    if modality == "strong" and (hedges > 0 or boosters >= 0):
        return "M3 makes a strong claim moderate: remove a booster and add no hedge."
    return ""


def _count(phrases: tuple[str, ...], text: str) -> int:
    return sum(1 for _ in matches("|".join(sorted(phrases, key=len, reverse=True)), text))


def hedged(text: str) -> Iterator[Change]:
    for match in matches("(?P<aux>is|are) not", text):
        yield Change(Rule.HEDGED, match.span(), "may not be")
    for match in matches("(?P<aux>was|were) not", text):
        yield Change(Rule.HEDGED, match.span(), "may not have been")
    for match in matches("(?:do|does) not", text):
        yield Change(Rule.HEDGED, match.span(), "may not")
    for match in matches(rf"did not (?P<adverb>\w+ly )?(?P<verb>{'|'.join(v.base for v in VERBS)})", text):
        participle = BY_FORM[match["verb"].lower()].participle
        yield Change(Rule.HEDGED, match.span(), f"may not have {match['adverb'] or ''}{participle}")
    for match in matches("(?:is|are)(?! not)", text):
        yield Change(Rule.HEDGED, match.span(), "may be")
    for match in matches("(?:was|were)(?! not)", text):
        yield Change(Rule.HEDGED, match.span(), "may have been")
    for match in matches("can|will|would", text):
        yield Change(Rule.HEDGED, match.span(), "may")
    yield from verbs(text, Rule.HEDGED, {"base": "may {0}", "third": "may {0}", "past": "may have {1}"})


def unhedged(text: str) -> Iterator[Change]:
    def be(at: int, one: str, many: str) -> str:
        return many if _is_plural(last_word(text, at)) else one

    for match in matches(r"(?:may|might|could) (?P<not>not |\w+ly )?be", text):
        yield Change(Rule.UNHEDGED, match.span(), f"{be(match.start(), 'is', 'are')} {match['not'] or ''}".strip())
    for match in matches(r"(?:may|might|could) (?P<not>not |\w+ly )?have been", text):
        yield Change(Rule.UNHEDGED, match.span(), f"{be(match.start(), 'was', 'were')} {match['not'] or ''}".strip())
    for match in matches(r"(?:may|might|could) not", text):
        yield Change(Rule.UNHEDGED, match.span(), f"{be(match.start(), 'does', 'do')} not")
    for match in matches(r"(?:may|might|could|can) (?P<adverb>\w+ly )?(?P<verb>(?!(?:not|be|have|\w+ly)\b)\w+)", text):
        verb = BY_FORM.get(match["verb"].lower())
        third = verb.third if verb else match["verb"] + "s"
        yield Change(Rule.UNHEDGED, match.span(), (match["adverb"] or "") + be(match.start(), third, match["verb"]))
    for match in matches(r"(?:seem|appear)s to be", text):
        yield Change(Rule.UNHEDGED, match.span(), "is")
    for match in matches(r"(?:seem|appear) to be", text):
        yield Change(Rule.UNHEDGED, match.span(), "are")
    for match in matches(r"(?:seem|appear)ed to be", text):
        yield Change(Rule.UNHEDGED, match.span(), "was")
    for match in matches(r"(?P<verb>(?:seem|appear)s?|tends?) to (?P<what>\w+)", text):
        verb = BY_FORM.get(match["what"].lower())
        single = match["verb"].lower().endswith("s")
        verb_form = (verb.third if verb else match["what"] + "s") if single else match["what"]
        yield Change(Rule.UNHEDGED, match.span(), verb_form)
    assertive_verbs = {"suggests": "shows", "suggest": "show", "suggested": "showed", "suggesting": "showing"}
    for match in matches("|".join(assertive_verbs), text):
        yield Change(Rule.UNHEDGED, match.span(), assertive_verbs[match[0].lower()])
    dropped = (
        "probably|possibly|possible|potentially|potential|perhaps|likely|presumably|apparently|limited|weak|some|weakly|"
        "low-quality|low quality|preliminary|moderate-quality|slightly|a trend (?:towards?|to)|trends? towards?"
    )
    for match in leading(dropped, text):
        yield Change(Rule.UNHEDGED, match.span(), "")
    for match in matches("should", text):
        yield Change(Rule.UNHEDGED, match.span(), "must")


def _is_plural(before: str) -> bool:
    """Guess the number from the last word. The guess is rough; a person reviews each draft."""
    word = before.lower()
    return word in ("data", "they", "both", "these") or (word.endswith("s") and not word.endswith(("ss", "us", "is")))


_BOOSTED = (
    "clearly|strongly|strong|definitely|definitive|certainly|undoubtedly|conclusively|conclusive|convincing|robust|"
    "highly|high-quality|high quality|high-certainty|compelling|significantly|markedly|substantially|substantial|"
    "significant|dramatically|consistently|sufficient|good|statistically significant|statistically significantly|"
    "very|extremely|much|clear|considerably|considerable|marked|great|greatly|ample|effective"
)


def toned_down(text: str) -> Iterator[Change]:
    for match in leading(_BOOSTED, text):
        yield Change(Rule.TONED_DOWN, match.span(), "")
    for match in matches("proves?|proved|confirms?|confirmed|proven", text):
        milder = {
            "prove": "show",
            "proves": "shows",
            "proved": "showed",
            "confirm": "show",
            "confirms": "shows",
            "confirmed": "showed",
            "proven": "shown",
        }
        yield Change(Rule.TONED_DOWN, match.span(), milder[match[0].lower()])
    for match in matches("must|should", text):
        yield Change(Rule.TONED_DOWN, match.span(), "can")
