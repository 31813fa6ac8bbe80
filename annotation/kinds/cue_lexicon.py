"""Cue lexicon: words that often show a polarity or a modality, shown only in rounds with suggestions.

The lexicon is a plain list, so that the suggestions are transparent. Suggestions bias annotators. Rounds can therefore
switch them off, and answers record which ones were accepted, edited and rejected.
"""

import re

_PHRASES = (
    r"no (?:statistically )?(?:significant )?(?:differences?|effects?|associations?|change|benefit|improvement)",
    r"(?:did|do|does|was|were|is|are) not (?:significantly )?"
    r"(?:differ(?:ent)?|associated|reduced?|increased?|improved?|affect)",
    r"(?:insufficient|limited|little|no|weak|strong|good|high[- ]quality|moderate) evidence",
    r"neither|nor|not|without|lack of|inconclusive|unclear|uncertain|cannot be",
    r"(?:statistically )?significant(?:ly)?"
    r"(?: (?:higher|lower|greater|more|less|better|worse|reduced?|increased?|improved?))?",
    r"(?:increase[sd]?|decrease[sd]?|reduce[sd]?|improve[sd]?|lower(?:ed|s)?|higher|greater|better|worse|superior|inferior)",
    r"(?:more|less) (?:effective|likely|frequent(?:ly)?|common)",
    r"non-?inferior|equivalent|similar|comparable|effective|beneficial|harmful|protective",
    r"(?:may|might|could|seems?|appears?|suggests?|possibly|probably|likely|potential(?:ly)?)",
    r"(?:clearly|strongly|definitely|confirm(?:s|ed)?|demonstrate[sd]?|prove[sdn]?)",
    r"associated with|risk (?:of|factor)",
)
_CUE = re.compile(rf"(?<!\w)(?:{'|'.join(_PHRASES)})(?!\w)", re.IGNORECASE)


def find_cues(text: str) -> list[tuple[int, int]]:
    """Return half-open ranges of code points of the words in ``text``, in order, without overlap."""
    return [match.span() for match in _CUE.finditer(text)]
