"""Convert text with inline markup to plain text: render formulas, and keep one of several alternatives."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, TreeBuilder

#: Number of preceding characters that decide whether raised text is an exponent.
_CONTEXT = 40
_SIGNS = "-+\u2010-\u2015\u2212"
_NUMBER = r"\d+(?:[.\u00b7]\d+)?"
_EXPONENT = re.compile(rf"([{_SIGNS}]?)({_NUMBER}|{_NUMBER}/{_NUMBER}|n|n[{_SIGNS}]\d+)")
_SIMPLE = re.compile(rf"[{_SIGNS}]?(?:[^\W_]|[.,\u00b7%\u00b0\u2032])+")
_MINUS = re.compile("[\u2010-\u2015\u2212]")
#: Bases after which a raised whole number from 2 to 9 is an exponent. After other words it is a note or a citation.
_POWERS_OF = re.compile(r"(?:^|[^\w.])(?:2|3|4|5|10|[^\W\d_]|[cdkmn\u00b5\u03bc]m|ft|in|sec|chi)\Z", re.IGNORECASE)
_TEN = re.compile(r"(?:^|[^\w.])10\Z")
_SUPERSCRIPT = str.maketrans("0123456789+-\u2212=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_RAISED = re.compile("[0-9+\u2212=()n-]+")


def raised(text: str, before: str, *, is_formula: bool = False, is_note: bool = False) -> str:
    """Return raised text as plain text: "10^6" and "I^2" stay distinct from "106" and "I2".

    ``before`` is the end of the preceding text. ``is_formula``: the markup marks an exponent. ``is_note``: the text is
    a citation or a footnote. Text that is no exponent keeps its raised digits or stays unchanged.
    """
    bare = text.strip()
    if not bare:
        return text
    if is_formula and any(char.isalnum() for char in bare) and bare[-1] not in "+-\u2212":
        return f"^{grouped(_MINUS.sub('-', bare))}"
    exponent_match = None if is_note else _EXPONENT.fullmatch(bare)
    if exponent_match and _is_power(exponent_match[1], exponent_match[2], before):
        sign, number = exponent_match.groups()
        exponent = f"{'-' if sign and sign != '+' else sign}{_MINUS.sub('-', number)}"
        return f"^{exponent if _SIMPLE.fullmatch(exponent) else f'({exponent})'}"
    return text.replace(bare, bare.translate(_SUPERSCRIPT)) if _RAISED.fullmatch(bare) else text


def _is_power(sign: str, number: str, before: str) -> bool:
    base = tail([before])
    if not base or not (base[-1].isalnum() or base[-1] in ")]"):
        return False
    if sign or not number.isdigit():
        return True
    return bool((_POWERS_OF if number in "23456789" else _TEN).search(base))


def grouped(text: str) -> str:
    """Return an operand in brackets, unless it is a single number or name."""
    bare = text.strip()
    if _SIMPLE.fullmatch(bare) or not bare or (bare[0] == "(" and _closes_last(bare)):
        return bare
    return f"({bare})"


def _closes_last(text: str) -> bool:
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


def tail(pieces: Sequence[str]) -> str:
    """Return the last characters of a text given in pieces."""
    end = ""
    for piece in reversed(pieces):
        end = piece[-_CONTEXT:] + end
        if len(end) >= _CONTEXT:
            break
    return end[-_CONTEXT:]


#: Invisible MathML operators (function application, multiplication, separator, addition), which are removed.
_INVISIBLE = dict.fromkeys(range(0x2061, 0x2065))
_LARGE = re.compile("[\u220f-\u2211\u222b-\u2233\u22c0-\u22c3]|lim|max|min|sup|inf")
_OMITTED = ("annotation", "annotation-xml", "mphantom", "mprescripts", "none")


def text_of(element: Element, before: str = "") -> str:
    """Return the text of an element. ``before`` is the end of the preceding text."""
    name = _name(element)
    if name in _OMITTED:
        return ""
    if name in ("mi", "mn", "mo", "ms"):
        return "".join(element.itertext()).strip().translate(_INVISIBLE)
    if name == "mtext":
        return re.sub(r"\s+", " ", "".join(element.itertext()))
    if name == "mspace":
        return " "
    if name == "semantics":
        return text_of(element[0], before) if len(element) else ""
    parts = list(element)
    if (write := _LAYOUTS.get(name)) and len(parts) >= _LEAST.get(name, 0):
        return write(element, parts, before)
    return _row(element, parts, before)


def _name(element: Element) -> str:
    return element.tag.rpartition(":")[2]


def _row(element: Element, parts: Iterable[Element], before: str) -> str:
    pieces = [element.text.strip()] if element.text and element.text.strip() else []
    for part in parts:
        text = text_of(part, tail([before, *pieces[-20:]]))
        last = tail([before, *pieces[-20:]])[-1:]
        # "2 1/2" is two and a half; "21/2" is not.
        if text and _name(part) == "mfrac" and last.isalnum():
            pieces.append(" ")
        pieces.append(text)
    return "".join(pieces)


def _fraction(element: Element, parts: list[Element], before: str) -> str:
    over, under = grouped(text_of(parts[0])), grouped(text_of(parts[1]))
    # A fraction without a bar is a binomial coefficient.
    return f"{over} over {under}" if element.get("linethickness") in ("0", "0pt", "0em") else f"{over}/{under}"


def _power(element: Element, parts: list[Element], before: str) -> str:
    base = text_of(parts[0], before)
    return base + raised(text_of(parts[1]), base or before, is_formula=bool(base))


def _index(element: Element, parts: list[Element], before: str) -> str:
    base, below = text_of(parts[0], before), text_of(parts[1])
    return f"{base}_{grouped(below)}" if _LARGE.fullmatch(base) and below else base + below


def _both(element: Element, parts: list[Element], before: str) -> str:
    base = _index(element, parts, before)
    return base + raised(text_of(parts[2]), base or before, is_formula=bool(base))


def _scripts(element: Element, parts: list[Element], before: str) -> str:
    """Return prescripts, the base, then its indices and exponents: "\u00b9\u2078F"."""
    names = [_name(part) for part in parts]
    at = names.index("mprescripts") if "mprescripts" in names else len(parts)
    behind, ahead = parts[1:at], parts[at + 1 :]
    text = "".join(raised(text_of(part), "") for part in ahead[1::2]) + "".join(map(text_of, ahead[::2]))
    text += text_of(parts[0], before) + "".join(map(text_of, behind[::2]))
    return text + "".join(raised(text_of(part), text or before, is_formula=bool(text)) for part in behind[1::2])


def _root(element: Element, parts: list[Element], before: str) -> str:
    if _name(element) == "mroot":
        return f"{grouped(text_of(parts[0]))}^(1/{text_of(parts[1])})"
    return f"\u221a{grouped(_row(element, parts, ''))}"


def _fenced(element: Element, parts: list[Element], before: str) -> str:
    between = (element.get("separators", ",").strip() or " ")[0]
    inside = between.join(map(text_of, parts))
    return f"{element.get('open', '(')}{inside}{element.get('close', ')')}"


def _table(element: Element, parts: list[Element], before: str) -> str:
    return "; ".join(", ".join(map(text_of, row)) for row in parts)


_LAYOUTS: dict[str, Callable[[Element, list[Element], str], str]] = {
    "mfrac": _fraction,
    "msup": _power,
    "mover": _power,
    "msub": _index,
    "munder": _index,
    "msubsup": _both,
    "munderover": _both,
    "mmultiscripts": _scripts,
    "msqrt": _root,
    "mroot": _root,
    "mfenced": _fenced,
    "mtable": _table,
}
_LEAST = {
    "mfrac": 2,
    "msup": 2,
    "mover": 2,
    "msub": 2,
    "munder": 2,
    "msubsup": 3,
    "munderover": 3,
    "mmultiscripts": 1,
    "mroot": 2,
}


_FORMULAS = ("inline-formula", "disp-formula")
#: Alternatives are chosen by the highest rank; the first one wins a tie.
_RANKS = {"math": 3, "tex-math": 1}
_OTHER = 2
#: An element takes far more memory than the few characters of its tags.
_MOST_ELEMENTS = 10_000


@dataclass
class _Choice:
    """An element whose children are alternatives. ``kept`` is the index of the piece chosen so far."""

    depth: int
    is_formula: bool
    kept: int = -1
    rank: int = 0


class Inline:
    """Collect the pieces of the texts being read, which can be nested.

    A handler reports every element and all characters while a text is open. `text` returns the text since an index.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._depth = 0
        self._choices: list[_Choice] = []
        #: Start positions of the elements that are transformed or chosen from, outermost first.
        self._begins: list[tuple[int, int, bool]] = []
        self._math: TreeBuilder | None = None
        self._math_depth = self._math_elements = 0
        self._references = 0

    @property
    def in_formula(self) -> bool:
        return self._math is not None

    def text(self, begin: int) -> str:
        return "".join(self.pieces[begin:])

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        self._depth += 1
        if self._math is None and local == "math":
            self._math, self._math_depth, self._math_elements = TreeBuilder(), self._depth, 0
        if self._math is not None:
            self._math_elements += 1
            if self._math_elements > _MOST_ELEMENTS:
                raise ValueError(f"a formula has more than {_MOST_ELEMENTS:,} elements")
            self._math.start(local, attributes)
        if self._math is None or self._depth == self._math_depth:
            if local == "xref":
                self._references += 1
                self._begins = [(depth, at, True) for depth, at, _ in self._begins]
            if local in ("sup", "math", "tex-math") or self._is_choice():
                self._begins.append((self._depth, len(self.pieces), self._references > 0))
            if local.endswith("alternatives") and local != "citation-alternatives":
                self._choices.append(_Choice(self._depth, is_formula=False))
            elif local in _FORMULAS:
                self._choices.append(_Choice(self._depth, is_formula=True))

    def _is_choice(self) -> bool:
        return bool(self._choices) and self._choices[-1].depth == self._depth - 1

    def characters(self, content: str) -> None:
        if self._math is not None:
            self._math.data(content)
        else:
            self.pieces.append(content)

    def end(self, name: str) -> None:
        local = name.rpartition(":")[2]
        if self._math is not None:
            self._math.end(local)
            if self._depth > self._math_depth:
                self._depth -= 1
                return
        if self._choices and self._choices[-1].depth == self._depth:
            self._choices.pop()
        if local == "xref":
            self._references -= 1
        if self._begins and self._begins[-1][0] == self._depth:
            _, begin, is_note = self._begins.pop()
            self._replace(local, begin, is_note)
        elif local == "break":
            self.pieces.append(" ")
        self._depth -= 1

    def _replace(self, local: str, begin: int, is_note: bool) -> None:
        before = tail(self.pieces[max(0, begin - 60) : begin])
        if self._math is not None:
            self.pieces[begin:] = [text_of(self._math.close(), before)]
            self._math = None
        elif local == "sup":
            self.pieces[begin:] = [raised(self.text(begin), before, is_note=is_note)]
        elif local == "tex-math":
            self.pieces[begin:] = [_tex_formula(self.text(begin))]
        if self._is_choice():
            self._choose(self._choices[-1], local, begin)

    def _choose(self, choice: _Choice, local: str, begin: int) -> None:
        rank = _RANKS.get(local, 0 if choice.is_formula else _OTHER)
        text = self.text(begin)
        if not rank or not text.strip():
            return
        if choice.kept < 0:
            self.pieces[begin:] = [text]
            choice.kept, choice.rank = begin, rank
            return
        del self.pieces[begin:]
        if rank > choice.rank:
            self.pieces[choice.kept], choice.rank = text, rank


def _tex_formula(text: str) -> str:
    """Return the formula of a TeX document, without the document."""
    _, begins, rest = text.partition("\\begin{document}")
    return (rest if begins else text).partition("\\end{document}")[0].strip(" \t\r\n$")
