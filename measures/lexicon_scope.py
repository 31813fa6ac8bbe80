"""What reaches over a statement in the lexicon classifier: negation, doubt, missing significance, reversal."""

from __future__ import annotations

from collections.abc import Collection

from measures.lexicon import plays
from measures.spans import Range

NEAR = 7
"""How many words a negation reaches."""
FAR = 14
"""How many words doubt reaches ("no evidence that", "neither")."""

LINKS = ("the", "a", "an", "of", "in", "any", "further", "this", "its", "their", "risk", "rate")
"""Words that may stand between two that belong together."""


class Scope:
    """The tokens of one sentence (keys, in order) and which of them name the intervention."""

    def __init__(self, keys: tuple[str, ...], of_intervention: Collection[int]) -> None:
        self.keys = keys
        self.of_intervention = of_intervention

    def negator(self, i: int, clause: Range) -> bool:
        """Whether a negation before token i reaches it: no comma between, or doubt, which reaches further."""
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
        """Whether "was not significant", "but not significantly", "(P > 0.05)" stands behind the cue."""
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
        """Whether the statement is about less of the intervention, or compares something else with it."""
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
        """Whether token i makes less of the intervention: "low intake of vitamin K", "withdrawal of the drug"."""
        if not plays("low", self.keys[i]):
            return False
        for j in range(i + 1, min(len(self.keys), i + 5)):
            if j in self.of_intervention:
                return True
            if self.keys[j] not in LINKS and not plays("exposure", self.keys[j]) and self.keys[j] != "dietary":
                return False
        return False
