"""The words by which ``measures.lexicon_direction`` reads a direction: one table, to be read and argued with.

A word ending in ``*`` stands for all that begin so. Case is ignored, plurals of nouns are found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

Role = Literal[
    "rises", "falls", "better", "worse", "association", "inverse", "direct", "same", "neutral", "negator", "doubt",
    "low", "exposure", "purpose", "break", "harm", "general",
]  # fmt: skip

LEXICON_NAME = "concord-lexicon-direction 1"
"""Name of table and rules, kept with every figure that depends on them; raised with any change."""

_TABLE: dict[Role, str] = {
    # The outcome goes up.
    "rises": "increas* rais* rise rises rising rose risen elevat* heighten* augment* enhanc* boost* accelerat*"
    " exacerbat* aggravat* prolong* amplif* gain gains gained grew grow growing promot* upregulat* doubl* tripl*"
    " predispos* higher greater larger longer more",
    # The outcome goes down.
    "falls": "reduc* decreas* lower lowers lowered lowering declin* diminish* lessen* fall falls falling fell fallen"
    " drop drops dropped shorten* suppress* inhibit* attenuat* alleviat* ameliorat* reliev* relief mitigat*"
    " prevent* protect* minimi* eliminat* abolish* slow slows slowed slowing delay* downregulat* weaken* fewer"
    " less smaller shorter",
    # Up or down by whether the outcome is a harm: pain that improves goes down.
    "better": "improv* better superior superiority outperform* restor*",
    "worse": "worse* worst deteriorat* impair* inferior inferiority poorer compromis*",
    # Goes along with: up, but weakly; strongly with one of "direct", down with one of "inverse" just before.
    "association": "associat* correlat* linked predict* predispos* factor factors",
    "direct": "positive positively direct directly",
    "inverse": "inverse inversely negative negatively reverse",
    # No change, as it stands.
    "same": "unchanged unaffected unaltered similar similarly similarity comparable comparably equivalent"
    " equivalence equal equally stable constant identical insignificant insignificantly nonsignificant"
    " nonsignificantly unrelated noninferior noninferiority ns",
    # No change, when negated ("no difference", "did not affect"); nothing otherwise.
    "neutral": "difference* differ differs differed different effect effects affect* change* impact* influence*"
    " benefi* advantage* relation* effective* efficac* alter* association* correlation* interaction* role"
    " evidence significan*",
    # What turns the words behind it into no change.
    "negator": "no not nor neither none without never cannot non fail fails failed failing unable lack lacks lacked"
    " little hardly unlikely didn doesn don wasn weren isn aren couldn hasn haven",
    # The same, over a longer stretch.
    "doubt": "unclear uncertain unknown inconclusive insufficient whether neither nor",
    # Before the intervention (or a word of exposure) they turn the direction round: "low intake of vitamin K".
    "low": "low lower lowest reduced decreased deficien* inadequate insufficient lack absence withdrawal discontinu*",
    "exposure": "dose* dosage* intake* consumption exposure* quintile* quartile* tertile* supplementation",
    # A sentence with one of these asks rather than tells; it is read when no other names the outcome as well.
    "purpose": "objective objectives aim aims aimed purpose goal hypothesis hypothesised hypothesized whether"
    " investigate evaluate assess determine examine",
    # Where one statement ends and the next begins.
    "break": "; but however whereas while although though yet except",
    # Outcomes of which less is better.
    "harm": "risk* pain mortality death* adverse disease* symptom* severity bleeding infection* fracture* loss"
    " relapse* recurrence* complication* toxicity anxiety depression depressive fatigue nausea vomiting"
    " hospitali* stroke* cancer* inflammation edema oedema hypertension fall falls disability distress failure"
    " injury stress morbidity incidence exacerbation* progression deficit* impairment* dementia burden"
    " readmission* falls hypoglycemia hypoglycaemia",
    # Words of an outcome that name no outcome by themselves.
    "general": "risk rate rates incidence level levels change changes data effect effects outcome outcomes number"
    " score scores measure measures prevention prevent reduction increase improvement type total odds ratio or"
    " of the a an in on for to and with by from at s all any",
}  # fmt: skip


def _pattern(words: str) -> re.Pattern[str]:
    each = sorted(set(words.split()))
    return re.compile("|".join(re.escape(w).replace(r"\*", r"\w*") for w in each))


LEXICON: Mapping[Role, tuple[str, ...]] = {role: tuple(sorted(set(words.split()))) for role, words in _TABLE.items()}
"""The table as tuples, for showing it."""

_PATTERNS = {role: _pattern(words) for role, words in _TABLE.items()}


@lru_cache(maxsize=1 << 15)
def plays(role: Role, word: str) -> bool:
    """Whether a word (in lower case) is in the table under this role."""
    return _PATTERNS[role].fullmatch(word) is not None
