"""Tokenizers of the tables of MEDIQA-AnS: spaCy's rules for English where spaCy is installed, else white space."""

from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

Tokenizer = Callable[[str], list[str]]
WHITE_SPACE = "white space"


def tokenizer_name() -> str:
    """Return the name and version of the tokenizer of this process."""
    try:
        return f'spaCy {version("spacy")}, spacy.blank("en")'
    except PackageNotFoundError:
        return WHITE_SPACE


@lru_cache(maxsize=1)
def tokenizer() -> Tokenizer:
    """Return the tokenizer of this process. Loading spaCy takes seconds, so only workers and commands call it."""
    if tokenizer_name() == WHITE_SPACE:
        return str.split
    import spacy  # type: ignore[import-not-found,unused-ignore]

    rules = spacy.blank("en").tokenizer
    return lambda text: [token.text for token in rules(text)]
