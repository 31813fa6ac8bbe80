"""The lexicon by which ``measures.lexicon_cues`` determines the direction of an effect.

A word ending in ``*`` matches all words with this prefix. Case is ignored, and plurals of nouns match.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Literal

from .spans import Range

Role = Literal[
    "rises",
    "falls",
    "better",
    "worse",
    "association",
    "inverse",
    "direct",
    "same",
    "neutral",
    "negator",
    "doubt",
    "low",
    "exposure",
    "purpose",
    "break",
    "harm",
    "general",
]

LEXICON_NAME = "concord-lexicon-direction 1"
"""Version of the table and the rules, stored with every figure that depends on them; increased with any change."""

_TABLE: dict[Role, str] = {
    # The outcome increases.
    "rises": "increas* rais* rise rises rising rose risen elevat* heighten* augment* enhanc* boost* accelerat*"
    " exacerbat* aggravat* prolong* amplif* gain gains gained grew grow growing promot* upregulat* doubl* tripl*"
    " predispos* higher greater larger longer more",
    # The outcome decreases.
    "falls": "reduc* decreas* lower lowers lowered lowering declin* diminish* lessen* fall falls falling fell fallen"
    " drop drops dropped shorten* suppress* inhibit* attenuat* alleviat* ameliorat* reliev* relief mitigat*"
    " prevent* protect* minimi* eliminat* abolish* slow slows slowed slowing delay* downregulat* weaken* fewer"
    " less smaller shorter",
    # An increase or a decrease, depending on whether the outcome is a harm: improved pain decreases.
    "better": "improv* better superior superiority outperform* restor*",
    "worse": "worse* worst deteriorat* impair* inferior inferiority poorer compromis*",
    # A weak increase. It is strong after a word of "direct", and a decrease after a word of "inverse".
    "association": "associat* correlat* linked predict* predispos* factor factors",
    "direct": "positive positively direct directly",
    "inverse": "inverse inversely negative negatively reverse",
    # No change, without negation.
    "same": "unchanged unaffected unaltered similar similarly similarity comparable comparably equivalent"
    " equivalence equal equally stable constant identical insignificant insignificantly nonsignificant"
    " nonsignificantly unrelated noninferior noninferiority ns",
    # No change if negated ("no difference", "did not affect"); ignored otherwise.
    "neutral": "difference* differ differs differed different effect effects affect* change* impact* influence*"
    " benefi* advantage* relation* effective* efficac* alter* association* correlation* interaction* role"
    " evidence significan*",
    # Negates the words after it, which then mean no change.
    "negator": "no not nor neither none without never cannot non fail fails failed failing unable lack lacks lacked"
    " little hardly unlikely didn doesn don wasn weren isn aren couldn hasn haven",
    # Like a negator, with a longer reach.
    "doubt": "unclear uncertain unknown inconclusive insufficient whether neither nor",
    # Reverses the direction before the intervention or a word of exposure: "low intake of vitamin K".
    "low": "low lower lowest reduced decreased deficien* inadequate insufficient lack absence withdrawal discontinu*",
    "exposure": "dose* dosage* intake* consumption exposure* quintile* quartile* tertile* supplementation",
    # Marks a sentence that states a purpose. It is used only if no other sentence names the outcome as well.
    "purpose": "objective objectives aim aims aimed purpose goal hypothesis hypothesised hypothesized whether"
    " investigate evaluate assess determine examine",
    # Separates two statements.
    "break": "; but however whereas while although though yet except",
    # Outcomes of which less is better.
    "harm": "risk* pain mortality death* adverse disease* symptom* severity bleeding infection* fracture* loss"
    " relapse* recurrence* complication* toxicity anxiety depression depressive fatigue nausea vomiting"
    " hospitali* stroke* cancer* inflammation edema oedema hypertension fall falls disability distress failure"
    " injury stress morbidity incidence exacerbation* progression deficit* impairment* dementia burden"
    " readmission* falls hypoglycemia hypoglycaemia",
    # Words in the name of an outcome that do not identify an outcome by themselves.
    "general": "risk rate rates incidence level levels change changes data effect effects outcome outcomes number"
    " score scores measure measures prevention prevent reduction increase improvement type total odds ratio or"
    " of the a an in on for to and with by from at s all any",
}


def _pattern(words: str) -> re.Pattern[str]:
    each = sorted(set(words.split()))
    return re.compile("|".join(re.escape(w).replace(r"\*", r"\w*") for w in each))


LEXICON: Mapping[Role, tuple[str, ...]] = {role: tuple(sorted(set(words.split()))) for role, words in _TABLE.items()}
"""The table as tuples, for display."""

_PATTERNS = {role: _pattern(words) for role, words in _TABLE.items()}


@lru_cache(maxsize=1 << 15)
def plays(role: Role, word: str) -> bool:
    """Whether the table lists a lower-case word under this role."""
    return _PATTERNS[role].fullmatch(word) is not None


NEAR = 7
"""Reach of a negation, in words."""
FAR = 14
"""Reach of doubt ("no evidence that", "neither"), in words."""

LINKS = ("the", "a", "an", "of", "in", "any", "further", "this", "its", "their", "risk", "rate")
"""Words that may occur between two words that belong together."""


class Scope:
    """The tokens of one sentence (keys, in order) and the indices of those that name the intervention."""

    def __init__(self, keys: tuple[str, ...], of_intervention: Collection[int]) -> None:
        self.keys = keys
        self.of_intervention = of_intervention

    def negator(self, i: int, clause: Range) -> bool:
        """Whether a negation before token i applies to it.

        A negation applies within `NEAR` words without a comma. Doubt applies within `FAR` words.
        """
        for j in range(i - 1, max(clause[0], i - FAR) - 1, -1):
            word = self.keys[j]
            far = plays("doubt", word) or (plays("negator", word) and "evidence" in self.keys[j + 1 : j + 4])
            if far:
                return True
            close = i - j <= NEAR and "," not in self.keys[j:i]
            if close and plays("negator", word) and self.keys[j + 1 : j + 2] != ("only",) and not self.lowers(j):
                return True
        return False

    def not_significant(self, i: int, clause: Range) -> bool:
        """Whether "was not significant", "but not significantly" or "(P > 0.05)" follows the cue."""
        for j in range(i + 1, min(len(self.keys), i + FAR)):
            if self.keys[j : j + 2] in (("p", ">"), ("p", "\u2265")):
                return j < clause[1]
            if not self.keys[j].startswith(("significan", "nonsignifican", "insignifican")):
                continue
            bare = not self.keys[j].startswith("signif")
            negated = bare or any(plays("negator", word) for word in self.keys[max(i + 1, j - 4) : j])
            ends = j + 1 >= len(self.keys) or not self.keys[j + 1].isalnum()
            if negated and (ends or (j < clause[1] and self.keys[j].startswith("significance"))):
                return True
        return False

    def turned(self, clause: Range) -> bool:
        """Whether the statement is about less of the intervention, or compares another treatment with it."""
        if any(self.lowers(i) for i in range(*clause)):
            return True
        for i in range(*clause):
            if self.keys[i] == "less" and "".join(self.keys[i + 1 : i + 2]).startswith(("effective", "efficac")):
                return True
            compared = self.keys[i] == "compared" and self.keys[i + 1 : i + 2] in (("with",), ("to",))
            if compared or self.keys[i] in ("than", "versus", "vs"):
                treated = [j for j in self.of_intervention if clause[0] <= j < clause[1]]
                return bool(treated) and min(treated) > i
        return False

    def lowers(self, i: int) -> bool:
        """Whether token i reduces the intervention: "low intake of vitamin K", "withdrawal of the drug"."""
        if not plays("low", self.keys[i]):
            return False
        for j in range(i + 1, min(len(self.keys), i + 5)):
            if j in self.of_intervention:
                return True
            if self.keys[j] not in LINKS and not plays("exposure", self.keys[j]) and self.keys[j] != "dietary":
                return False
        return False
