"""What a search looks in, so that it finds the same on SQLite and PostgreSQL."""

import unicodedata


def folded(*texts: str) -> str:
    """Texts joined by line feeds, composed (NFKC) and casefolded. Only for searching: the texts stay as they are.

    The data bases disagree on the case of letters beyond ASCII, and "é" may be one code point or two.
    """
    return unicodedata.normalize("NFKC", "\n".join(texts)).casefold()
