"""Convert the texts of a unit to encoder tokens, and count the tokens that are cut."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...backends.assembly import HEAD, MS2, SEPARATORS, Unreadable, assemble, markers_of, shares
from ...backends.protocol import BackendError, Source
from ..checkpoints.families import Family


@dataclass(frozen=True)
class Read:
    """The tokens of one unit.

    ``rows`` has one row of token ids per encoding, including special tokens. ``cut`` counts the tokens that did not
    fit. ``head`` is the number of tokens at the start of a row with full attention, in families with global attention.
    """

    source: Source
    rows: tuple[tuple[int, ...], ...]
    cut: int
    head: int = 1

    @property
    def tokens(self) -> int:
        return sum(map(len, self.rows))


class Reader:
    """Tokenizes units for one version.

    Raise `BackendError` if the checkpoint does not support the assembly.
    """

    def __init__(self, tokenizer: Any, family: Family, model_config: Any, config: Mapping[str, Any]) -> None:
        self.tokenizer, self.family, self.seed = tokenizer, family, config["seed"]
        assembly = self.assembly = config["assembly"]
        self.ms2 = assembly.get("markers") == MS2
        # MS^2 concatenates token ids, without special tokens around a row and without spaces between its parts.
        self.before, self.after = ((), ()) if self.ms2 else _special_tokens(tokenizer)
        self.most = _max_tokens(tokenizer, family, model_config, assembly.get("input_tokens"))
        separator = assembly.get("separator") or "auto"
        self.separator = separator if separator != "auto" else "" if self.ms2 else family.separator
        separator_id = tokenizer.get_vocab().get(self.separator)
        self.separator_id: int | None = separator_id if self.separator.strip() else None
        self.attended = assembly.get("full_attention") or "auto"
        by_separators = self.attended == SEPARATORS or (self.attended == "auto" and family.global_separator)
        #: The separator token, if it has full attention.
        self.mark = self.separator_id if by_separators else None
        self._refuse(tokenizer, family, markers_of(config))

    def _refuse(self, tokenizer: Any, family: Family, markers: tuple[str, ...]) -> None:
        if missing := [marker for marker in markers if marker not in tokenizer.get_vocab()]:
            raise BackendError(
                f"The tokenizer has no token {missing[0]}: this checkpoint does not support MS^2's markers."
            )
        if self.attended != "auto" and not family.global_attention:
            raise BackendError(
                f"Only LED supports full attention for chosen tokens; the family is {family.key}: use auto."
            )
        if self.attended == SEPARATORS and self.separator_id is None:
            raise BackendError(
                f"The separator {self.separator!r} is not a single token, so it cannot have full attention."
            )
        if self.attended == HEAD and not (self.assembly.get("background") or self.assembly.get("question")):
            raise BackendError("Full attention to the background requires the background or the question as input.")

    def joined(self, source: Source) -> Read:
        """Return all documents in one row, cut from the front or to a share each."""
        assembled = assemble(source, self.assembly, seed=self.seed)
        fixed = self._budget() == "fixed shares"
        front = self._tokens(assembled.before)
        documents = [
            self._tokens(text if self._bare(front, n) else self._with_separator(text, n))
            for n, text in enumerate(assembled.documents)
        ]
        marks = len(documents) if self.separator_id is not None else 0
        budget = self.most - len(self.before) - len(self.after)
        kept_front = front[:budget]
        budget -= len(kept_front) + marks
        lengths = [len(document) for document in documents]
        if fixed:
            # PRIMERA: max/n tokens each, including special tokens. Tokens that short documents leave unused are not
            # reassigned.
            share = max(self.most // max(len(documents), 1) - len(self.before) - len(self.after), 1)
            kept = shares([min(length, share) for length in lengths], budget, equal=False)
        else:
            kept = shares(lengths, budget, equal=self._budget() == "equal shares")
        body = self._body([document[:n] for document, n in zip(documents, kept, strict=True)])
        cut = len(front) - len(kept_front) + sum(lengths) - sum(kept)
        head = len(self.before) + len(kept_front) if self.attended == HEAD else 1
        return self._read(source, [kept_front + body], cut, head)

    def apart(self, source: Source) -> Read:
        """Return one row per document, each with the text before the documents, cut to the model's maximum."""
        assembled = assemble(source, self.assembly, seed=self.seed)
        budget = self.most - len(self.before) - len(self.after)
        if self.ms2:
            front = self._tokens(assembled.before)
            rows = [front + self._tokens(text) for text in assembled.documents]
        else:
            rows = [
                self._tokens(f"{assembled.before} {text}" if assembled.before else text) for text in assembled.documents
            ]
        return self._read(source, [row[:budget] for row in rows], sum(max(len(row) - budget, 0) for row in rows))

    def _read(self, source: Source, rows: list[list[int]], cut: int, head: int = 1) -> Read:
        rows = [row for row in rows if row]
        if not rows:
            raise Unreadable("There is no text to summarise.")
        return Read(source, tuple((*self.before, *row, *self.after) for row in rows), cut, head)

    def _body(self, documents: list[list[int]]) -> list[int]:
        body: list[int] = []
        for n, document in enumerate(document for document in documents if document):
            if self.separator_id is not None and n and not self.family.global_separator:
                body.append(self.separator_id)
            body += document
            if self.separator_id is not None and self.family.global_separator:
                # PRIMERA was trained with a mark after every document, including the last one.
                body.append(self.separator_id)
        return body

    def _budget(self) -> str:
        chosen: str = self.assembly.get("budget") or "auto"
        return chosen if chosen != "auto" else "fixed shares" if self.family.global_separator else "from the front"

    def _bare(self, front: list[int], n: int) -> bool:
        return n == 0 and not front

    def _with_separator(self, text: str, n: int) -> str:
        """Return a document with the separator before it, unless the separator is a token of its own."""
        if self.separator_id is not None:
            return text if n else f" {text}"
        return f"{self.separator if n or self.ms2 else ' '}{text}"

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False, truncation=False, verbose=False).input_ids
        return ids


def _special_tokens(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the special tokens before and after a text: BART ``<s>`` and ``</s>``, PEGASUS and T5 only the latter."""
    bare = tokenizer("a", add_special_tokens=False).input_ids
    full = tokenizer("a").input_ids
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return tuple(full[:start]), tuple(full[start + len(bare) :])
    raise BackendError("The special tokens before and after a text cannot be determined.")


def _max_tokens(tokenizer: Any, family: Family, config: Any, requested: int | None) -> int:
    bounds = [requested, family.longest(config)]
    if (
        (tokenizer_limit := getattr(tokenizer, "model_max_length", None))
        and tokenizer_limit < 1_000_000
        and not all(bounds)
    ):
        bounds.append(tokenizer_limit)
    return min(bound for bound in bounds if bound) if any(bounds) else 1_000_000
