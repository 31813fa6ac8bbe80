"""From a unit's texts to the tokens that an encoder reads, and how many had to be left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...backends.assembly import HEAD, MS2, MS2_MARKERS, SEPARATORS, Unreadable, assemble
from ...backends.budget import shares
from ...backends.protocol import BackendError, Source
from ..checkpoints.families import Family


@dataclass(frozen=True)
class Read:
    """What is read of one unit: one row of token ids for each encoding, special tokens included; the tokens that did
    not fit; and how many tokens at a row's head are attended to from everywhere, by families that do."""

    source: Source
    rows: tuple[tuple[int, ...], ...]
    cut: int
    head: int = 1

    @property
    def tokens(self) -> int:
        return sum(map(len, self.rows))


class Reader:
    """Reads as one version does. ``assembly`` is the section of its configuration; `BackendError` where the checkpoint
    cannot be given what it asks for."""

    def __init__(
        self, tokenizer: Any, family: Family, config: Any, assembly: Mapping[str, Any], *, seed: int
    ) -> None:  # fmt: skip
        self.tokenizer, self.family, self.assembly, self.seed = tokenizer, family, assembly, seed
        self.ms2 = assembly.get("markers") == MS2
        # MS^2 puts its rows together from token ids: nothing around them, and no space between.
        self.before, self.after = ((), ()) if self.ms2 else _specials(tokenizer)
        self.most = _most(tokenizer, family, config, assembly.get("input_tokens"))
        separator = assembly.get("separator") or "auto"
        self.separator = separator if separator != "auto" else "" if self.ms2 else family.separator
        known = tokenizer.get_vocab().get(self.separator)
        self.separator_id: int | None = known if self.separator.strip() else None
        self.attended = assembly.get("full_attention") or "auto"
        by_separators = self.attended == SEPARATORS or (self.attended == "auto" and family.global_separator)
        #: The token between documents, where it is attended to from everywhere.
        self.mark = self.separator_id if by_separators else None
        self._refuse(tokenizer, family)

    def _refuse(self, tokenizer: Any, family: Family) -> None:
        if self.ms2 and (lacking := [marker for marker in MS2_MARKERS if marker not in tokenizer.get_vocab()]):
            raise BackendError(
                f"The tokenizer has no token {lacking[0]}: this checkpoint does not know MS^2's markers."
            )
        if self.attended != "auto" and not family.global_attention:
            raise BackendError(
                f"LED alone attends fully to chosen tokens; this is of the family {family.key}: take auto."
            )
        if self.attended == SEPARATORS and self.separator_id is None:
            raise BackendError(f"The separator {self.separator!r} is no token of its own: it cannot be attended to.")
        if self.attended == HEAD and not (self.assembly.get("background") or self.assembly.get("question")):
            raise BackendError("The background is to be attended to fully, and neither it nor the question is read.")

    def joined(self, source: Source) -> Read:
        """All documents in one row: the front, or each cut to its share."""
        assembled = assemble(source, self.assembly, seed=self.seed)
        fixed = self._budget() == "fixed shares"
        front = self._tokens(assembled.before)
        documents = [self._tokens(text if self._bare(front, n) else self._led_in(text, n))
                     for n, text in enumerate(assembled.documents)]  # fmt: skip
        marks = len(documents) if self.separator_id is not None else 0
        room = self.most - len(self.before) - len(self.after)
        kept_front = front[:room]
        room -= len(kept_front) + marks
        lengths = [len(document) for document in documents]
        if fixed:
            # PRIMERA's own way: max/n each, special tokens counted, and what short ones leave is not given away.
            share = max(self.most // max(len(documents), 1) - len(self.before) - len(self.after), 1)
            kept = shares([min(length, share) for length in lengths], room, equal=False)
        else:
            kept = shares(lengths, room, equal=self._budget() == "equal shares")
        body = self._body([document[:n] for document, n in zip(documents, kept, strict=True)])
        cut = len(front) - len(kept_front) + sum(lengths) - sum(kept)
        head = len(self.before) + len(kept_front) if self.attended == HEAD else 1
        return self._read(source, [kept_front + body], cut, head)

    def apart(self, source: Source) -> Read:
        """A row for each document, what comes before it repeated, each cut to what the model takes."""
        assembled = assemble(source, self.assembly, seed=self.seed)
        room = self.most - len(self.before) - len(self.after)
        if self.ms2:
            front = self._tokens(assembled.before)
            rows = [front + self._tokens(text) for text in assembled.documents]
        else:
            rows = [self._tokens(f"{assembled.before} {text}" if assembled.before else text)
                    for text in assembled.documents]  # fmt: skip
        return self._read(source, [row[:room] for row in rows], sum(max(len(row) - room, 0) for row in rows))

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
                # PRIMERA was trained with a mark after every document, the last one too.
                body.append(self.separator_id)
        return body

    def _budget(self) -> str:
        chosen: str = self.assembly.get("budget") or "auto"
        return chosen if chosen != "auto" else "fixed shares" if self.family.global_separator else "from the front"

    def _bare(self, front: list[int], n: int) -> bool:
        return n == 0 and not front

    def _led_in(self, text: str, n: int) -> str:
        """A document as it follows something: the separator is part of its tokens, unless it is a token by itself."""
        if self.separator_id is not None:
            return text if n else f" {text}"
        return f"{self.separator if n or self.ms2 else ' '}{text}"

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False, truncation=False, verbose=False).input_ids
        return ids


def _specials(tokenizer: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What the tokenizer puts before and after a text: BART ``<s>`` and ``</s>``, PEGASUS and T5 only the latter."""
    bare = tokenizer("a", add_special_tokens=False).input_ids
    full = tokenizer("a").input_ids
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return tuple(full[:start]), tuple(full[start + len(bare) :])
    raise BackendError("What the tokenizer puts before and after a text is not understood.")


def _most(tokenizer: Any, family: Family, config: Any, asked: int | None) -> int:
    bounds = [asked, family.longest(config)]
    if (own := getattr(tokenizer, "model_max_length", None)) and own < 1_000_000 and not all(bounds):
        bounds.append(own)
    return min(bound for bound in bounds if bound) if any(bounds) else 1_000_000
