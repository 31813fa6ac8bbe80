"""Word lists for counterfactual drafts and modality: verb forms, antonyms, hedges and boosters.

The lists are deliberately small, so that they can be reviewed. Case is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Forms(NamedTuple):
    """Forms of a verb: "reduce", "reduces", "reduced", "reduced"."""

    base: str
    third: str
    past: str
    participle: str


_IRREGULAR = {
    "show": ("showed", "shown"),
    "lead": ("led", "led"),
    "find": ("found", "found"),
    "give": ("gave", "given"),
    "have": ("had", "had"),
    "rise": ("rose", "risen"),
    "fall": ("fell", "fallen"),
    "become": ("became", "become"),
    "make": ("made", "made"),
    "begin": ("began", "begun"),
}
_VERBS = (
    "achieve affect alleviate appear benefit cause confirm contribute correlate decrease delay demonstrate differ"
    " elevate eliminate enhance exacerbate exert exhibit favour favor find give have help impair improve increase"
    " indicate induce influence inhibit lead lower maintain make minimise minimize mitigate modify offer permit play"
    " predict present prevent produce prolong promote protect provide raise reduce relieve remain result reveal rise"
    " seem shorten show slow stabilise stabilize suggest support suppress worsen yield"
)


def _forms(base: str) -> Forms:
    third = "has" if base == "have" else base + ("es" if base.endswith(("s", "sh", "ch", "x")) else "s")
    regular = base + ("d" if base.endswith("e") else "red" if base in ("confer",) else "ed")
    if base == "permit":
        regular = "permitted"
    past, participle = _IRREGULAR.get(base, (regular, regular))
    return Forms(base, third, past, participle)


VERBS: tuple[Forms, ...] = tuple(_forms(base) for base in _VERBS.split())
#: Verb by each of its forms. A form that is also a base maps to the verb with that base.
BY_FORM: Mapping[str, Forms] = {form: verb for verb in VERBS for form in reversed(verb)}

_PAIRS = """
increase decrease; increases decreases; increased decreased; increasing decreasing; reduce increase; reduces increases;
reduced increased; reducing increasing; reduction increase; higher lower; high low; more less; greater smaller;
better worse; best worst; improve worsen; improves worsens; improved worsened; improving worsening;
improvement worsening; improvements worsening; superior inferior; superiority inferiority; effective ineffective;
efficacious inefficacious; safe unsafe; beneficial harmful; positive negative; positively negatively; fewer more;
longer shorter; prolonged shortened; larger smaller; faster slower; earlier later; prevent cause; prevents causes;
prevented caused; lower raise; lowers raises; lowered raised; lowering raising; benefit harm; benefits harms;
advantage disadvantage; advantages disadvantages; likely unlikely; common uncommon; favourable unfavourable;
favorable unfavorable; decreased increased; elevated lowered; enhances impairs; enhanced impaired; enhance impair;
protective harmful; detrimental beneficial; adverse beneficial; useful useless; successful unsuccessful;
tolerable intolerable; accelerates delays; delays accelerates; slows speeds; strong weak; alleviates aggravates;
relieves aggravates; rises falls; rise fall
"""
#: Antonyms in one direction only: the second word does not map back.
_ONE_WAY = """
similar different; similarly differently; comparable different; equivalent inferior; equal unequal; same opposite;
associated inversely associated; association inverse association; associations inverse associations;
correlated inversely correlated; correlation inverse correlation; aggravates relieves; increase decrease;
increases decreases; increased decreased; less more; well poorly; risk protective
"""


def _antonyms() -> dict[str, str]:
    antonyms: dict[str, str] = {}
    for line in _ONE_WAY.split(";"):
        word, _, other = line.strip().partition(" ")
        antonyms.setdefault(word, other)
    for line in _PAIRS.split(";"):
        word, other = line.split()
        antonyms.setdefault(word, other)
        antonyms.setdefault(other, word)
    return antonyms


ANTONYMS: Mapping[str, str] = _antonyms()

#: Words and phrases that weaken a claim (hedges) or strengthen it (boosters).
HEDGES: tuple[str, ...] = (
    "may",
    "might",
    "could",
    "possible",
    "possibly",
    "probably",
    "probable",
    "perhaps",
    "potentially",
    "potential",
    "likely",
    "seems",
    "seem",
    "seemed",
    "appears",
    "appear",
    "appeared",
    "suggests",
    "suggest",
    "suggested",
    "suggesting",
    "tends",
    "tend",
    "trend",
    "limited",
    "weak",
    "some evidence",
    "little evidence",
    "low-quality",
    "low quality",
    "unclear",
    "uncertain",
    "presumably",
    "apparently",
    "should",
    "preliminary",
)
BOOSTERS: tuple[str, ...] = (
    "clearly",
    "strongly",
    "strong",
    "definitely",
    "definitive",
    "certainly",
    "undoubtedly",
    "conclusively",
    "conclusive",
    "convincing",
    "convincingly",
    "robust",
    "highly",
    "proves",
    "proved",
    "proven",
    "prove",
    "confirms",
    "confirmed",
    "confirm",
    "high-quality",
    "high quality",
    "compelling",
    "significantly",
    "markedly",
    "substantially",
    "evident",
)
