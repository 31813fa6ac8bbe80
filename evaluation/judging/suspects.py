"""Sentences in texts that look like instructions to a judge.

The patterns find common forms only. A page without a match can still contain an instruction, so results report the
risk (docs/judges.md).
"""

import re

#: Ends of sentences and lines. A point within a number ends none.
_ENDS = re.compile(r"(?<=[.!?])(?=\s)|(?<=\n)")
_START = r"(?:^|[.!?:;,\"'(\[]\s*|\b(?:please|now|always|just|must|should|to)\s+)"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Imperatives that name a value, a position or the text itself.
        _START + r"(?:rate|score|grade|rank|mark|judge|evaluate|choose|prefer|select|pick|vote)\b[^.!?]{0,60}?"
        r"\b(?:this|it|me|us|text|summary|answer|first|second|left|right|highest|best|maximum|top|full|perfect|"
        r"better|[a-d]|\d+)\b",
        r"\b(?:give|assign|award|return|output|answer|respond|reply)\b[^.!?]{0,60}?"
        r"\b(?:score|rating|grade|points?|stars?|full marks|value|json|(?:a|an|the)\s+\d+|\d+\s*(?:/|out of)\s*\d+)\b",
        # Attempts to replace the instructions, or to speak as another role.
        r"\b(?:ignore|disregard|forget|override)\b[^.!?]{0,60}?"
        r"\b(?:instructions?|rules?|prompt|protocol|above|previous|prior|everything)\b",
        r"\b(?:system|assistant|user|developer)\s*:",
        r"<\|[^|>]{1,40}\|>|\[/?INST\]|</?(?:system|instructions?|assistant|user|data)>|```",
        r"\b(?:as|you are)\s+(?:an?\s+)?(?:AI|language model|LLM|assistant|judge|rater|evaluator|grader)\b",
        r"\b(?:note|message|instruction)s?\s+(?:to|for)\s+(?:the\s+)?(?:AI|model|judge|rater|evaluator|grader|reviewer)s?\b",
        r"\byou\s+(?:must|should|have to|will)\b[^.!?]{0,60}?\b(?:rate|score|grade|rank|choose|prefer|give)\b",
    )
)
#: Replaces a text that consists of suspicious sentences only, because a page has no empty text.
REMOVED = "[text removed]"


def suspicious_sentences(text: str) -> list[str]:
    """Return the sentences of a text that look like instructions to a judge."""
    return [sentence.strip() for sentence in _sentences(text) if _is_suspicious(sentence)]


def without_suspicious(text: str) -> str:
    """Return a text without these sentences; the other characters stay as they are."""
    kept = "".join(sentence for sentence in _sentences(text) if not _is_suspicious(sentence))
    return kept if kept.strip() or not text.strip() else REMOVED


def _sentences(text: str) -> list[str]:
    """Return consecutive parts of a text, which together are the whole text."""
    return [sentence for sentence in _ENDS.split(text) if sentence]


def _is_suspicious(sentence: str) -> bool:
    return any(pattern.search(sentence.strip()) for pattern in _PATTERNS)
