"""A prompt as the turns that a chat model was trained on, in token ids; and no text can forge a turn.

What surrounds the user's words (the *frame*) is rendered once, when a version is made, and is a fact of the version:
templates may print the day's date, and a version must not change overnight.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from jinja2.exceptions import TemplateError

from ...backends.protocol import BackendError

#: Stands for the words while the frame is rendered. Never tokenised.
_WORDS = "WORDSTANDIN"
_REPLY = "REPLYSTANDIN"
#: Turns that are written in ordinary characters, which no tokenizer can tell from a text's own.
_WRITTEN = re.compile(
    r"<</?[A-Z]+>>|<[|/]?[^<>\s]{1,40}>|\[/?[A-Z_]{2,}\]"
    r"|#{2,} ?(?:User|Human|Assistant|System|Instruction|Response|Input|Output):?"
    r"|(?<![\w])(?:User|Human|Assistant|System|Bot|Instruction|Response):",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Frame:
    """What stands ``before`` and ``after`` the user's words, the reply's ``end``, and the template's SHA-256.

    Without a template, ``plain`` is true and the tokenizer adds what it adds to any text.
    """

    before: str = ""
    after: str = ""
    end: str = ""
    template: str = ""
    plain: bool = False

    def as_facts(self) -> dict[str, Any]:
        return asdict(self)


def frame_of(tokenizer: Any, system: str, *, plain: bool) -> Frame:
    """The frame as the model's template writes it today. Raises `BackendError` where it has none, or cannot be used.

    Templates come with weights only, and transformers runs them in a sandbox; nothing that a lead types is one.
    """
    if plain:
        if system:
            raise BackendError("A system message needs the model's own turns; without them, put it into the prompt.")
        return Frame(plain=True)
    if not isinstance(tokenizer.chat_template, str):
        raise BackendError("The model has no chat template (or several): choose 'plain', which sends the prompt alone.")
    asked = [{"role": "system", "content": system}] if system else []
    asked.append({"role": "user", "content": _WORDS})
    before, after = _split(_rendered(tokenizer, asked, prompt=True), _WORDS)
    replied = _rendered(tokenizer, [*asked, {"role": "assistant", "content": _REPLY}], prompt=False)
    digest = sha256(tokenizer.chat_template.encode()).hexdigest()
    return Frame(before, after, _split(replied, _REPLY)[1], digest)


def _rendered(tokenizer: Any, messages: list[dict[str, str]], *, prompt: bool) -> str:
    try:
        # A summary is wanted, not the thoughts before it; templates without such a switch take no notice.
        found: str = tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=prompt, enable_thinking=False
        )
    except (TemplateError, TypeError, ValueError) as wrong:
        raise BackendError(f"The model's chat template refuses the messages: {wrong}") from wrong
    return found


def _split(rendered: str, word: str) -> tuple[str, str]:
    before, *after = rendered.split(word)
    if len(after) != 1:
        raise BackendError("The model's chat template does not write a message once, as it is: it cannot be used.")
    return before, after[0]


class Turns:
    """Token ids of prompts in a frame."""

    def __init__(self, tokenizer: Any, frame: Frame) -> None:
        self.tokenizer, self.frame = tokenizer, frame
        added = {token: word.content for token, word in tokenizer.added_tokens_decoder.items()}
        #: Tokens that no text may hold. White space that is a token of its own is no markup.
        self.markup = {token for token, word in added.items() if word.strip()} | set(tokenizer.all_special_ids)
        words = sorted({word for token, word in added.items() if token in self.markup}, key=len, reverse=True)
        self._words = re.compile("|".join(map(re.escape, words))) if words else None
        written = {found[0].casefold() for found in _WRITTEN.finditer(f"{frame.before} {frame.after} {frame.end}")}
        self._written = written - {word.casefold() for word in words}

    def ids(self, words: str) -> list[int]:
        """The prompt with these words in it, their blank ends cut off.

        Words without markup are tokenised together with the frame, exactly as the model was trained. Where there is
        markup, they are tokenised by themselves, and what looks like markup becomes ordinary characters.
        """
        words = self._broken(words.strip())
        before, after = self._coded(self.frame.before), self._coded(self.frame.after)
        ids = self._coded(self.frame.before + words + self.frame.after)
        if self._marks(ids) != self._marks([*before, *after]):
            ids = [*before, *self.literal(words), *after]
        return [*self._first(), *ids] if self.frame.plain else ids

    def stops(self, own: int | Sequence[int] | None) -> list[int]:
        """Tokens that end a reply: the model's own, the tokenizer's, and the one the template ends a turn with."""
        found = {own} if isinstance(own, int) else set(own or ())
        return sorted(token for token in {*found, self.tokenizer.eos_token_id, self._end()} if token is not None)

    def reply(self, text: str) -> tuple[list[int], list[bool]]:
        """Token ids of a reply that ends there, and which of them are special: the end alone, where there is one."""
        # After plain words a reply begins with a space, as the model would write it, unless its tokenizer adds one.
        space = self.frame.plain and not self.tokenizer.convert_ids_to_tokens(self._coded("a")[0]).startswith(
            ("▁", "Ġ")
        )
        ids = self.literal(f" {text}" if space else text)
        end = self._end() if self._end() is not None else self.tokenizer.eos_token_id
        return [*ids, *([] if end is None else [end])], [False] * len(ids) + [True] * (end is not None)

    def literal(self, text: str) -> list[int]:
        """Token ids of a text, none of them markup, whatever it says. Raises ValueError where that is impossible."""
        for pieces in (self._pieces(text), list(text)):
            ids = [token for piece in pieces for token in self._coded(piece, split=True)]
            if not self._marks(ids):
                return ids
        raise ValueError("The text holds a control token that this tokenizer cannot write as plain characters.")

    def _marks(self, ids: Sequence[int]) -> list[int]:
        # A character that the tokenizer does not know is no turn.
        return [token for token in ids if token in self.markup and token != self.tokenizer.unk_token_id]

    def _pieces(self, text: str) -> list[str]:
        """The text cut inside of every control token, after its first character."""
        cuts = [found.start() + 1 for found in self._words.finditer(text)] if self._words else []
        return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b]

    def _broken(self, words: str) -> str:
        """A space into what the frame writes turns with, where that is no token of its own: ``[INST ]``."""
        if not self._written:
            return words
        return _WRITTEN.sub(
            lambda found: f"{found[0][:-1]} {found[0][-1]}" if found[0].casefold() in self._written else found[0],
            words,
        )

    def _end(self) -> int | None:
        """The control token that a turn ends with; None where it ends in ordinary characters."""
        first = self._coded(self.frame.end)[:1]
        return first[0] if first and first[0] in self.markup else None

    def _first(self) -> list[int]:
        """What the tokenizer puts before any text, and nothing of what it adds after one."""
        coded = self.tokenizer("a", return_special_tokens_mask=True, verbose=False)
        return list(coded["input_ids"][: coded["special_tokens_mask"].index(0)])

    def _coded(self, text: str, *, split: bool = False) -> list[int]:
        found: list[int] = self.tokenizer(
            text, add_special_tokens=False, split_special_tokens=split, truncation=False, verbose=False
        )["input_ids"]
        return found
