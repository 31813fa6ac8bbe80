"""What the sentences of a review's abstract do, and what MS^2 makes of it: a background, and the text to generate.

The nine classes become three as in the code of MS^2 (DeYoung et al., EMNLP 2021; github.com/allenai/ms2,
``scripts/modeling/summarizer_input_prep.py``: ``PREAMBLE_FIELDS``, ``TARGET_FIELDS`` and ``EXCLUDED_FIELDS``, and
``--limit_classes`` of ``ms2/models/abstract_classifier.py``): BACKGROUND and GOAL are the background that a system may
be given, EFFECT is the target, and the other six are left out. Sentences are joined by line ends, as there.
"""

from collections.abc import Iterable

CLASSES = (
    "BACKGROUND", "GOAL", "METHODS", "DETAILED_FINDINGS", "EVIDENCE_QUALITY", "EFFECT", "RECOMMENDATION",
    "FURTHER_STUDY", "ETC",
)  # fmt: skip
BACKGROUND, TARGET, OTHER = DERIVED = ("BACKGROUND", "TARGET", "OTHER")
_DERIVED_FROM = {"BACKGROUND": BACKGROUND, "GOAL": BACKGROUND, "EFFECT": TARGET}


def derived(rhetorical_class: str) -> str:
    """BACKGROUND, TARGET or OTHER. Raises `ValueError` for what is none of the nine classes."""
    if rhetorical_class not in CLASSES:
        raise ValueError(f"{rhetorical_class!r} is none of MS^2's classes.")
    return _DERIVED_FROM.get(rhetorical_class, OTHER)


def derived_text(part: str, sentences: Iterable[tuple[str, str]]) -> str:
    """The sentences, (class, text) in their order, of which one part is made; "" where there is none."""
    return "\n".join(text for rhetorical_class, text in sentences if derived(rhetorical_class) == part)
