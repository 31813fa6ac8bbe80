"""Convert a prompt to token ids with the chat template of a model, so that no text can forge a turn.

The markup around the user's message (the *frame*) is rendered once, when a version is created, and is a fact of the
version. Templates may include the current date, and a version must not change from day to day.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from jinja2.exceptions import TemplateError

from ...backends.protocol import BackendError

#: Placeholder for the message while the frame is rendered. Never tokenized.
_MESSAGE = "WORDSTANDIN"
_REPLY = "REPLYSTANDIN"
#: Turn markup in ordinary characters, which a tokenizer cannot distinguish from the text.
_TEXT_MARKUP = re.compile(
    r"<</?[A-Z]+>>|<[|/]?[^<>\s]{1,40}>|\[/?[A-Z_]{2,}\]"
    r"|#{2,} ?(?:User|Human|Assistant|System|Instruction|Response|Input|Output):?"
    r"|(?<![\w])(?:User|Human|Assistant|System|Bot|Instruction|Response):",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Frame:
    """The markup ``before`` and ``after`` the user's message, the ``end`` of the reply, and the template's SHA-256.

    Without a template, ``plain`` is true, and the tokenizer adds its usual special tokens.
    """

    before: str = ""
    after: str = ""
    end: str = ""
    template: str = ""
    plain: bool = False

    def as_facts(self) -> dict[str, Any]:
        return asdict(self)


def frame_of(tokenizer: Any, system: str, *, plain: bool) -> Frame:
    """Render the frame with the current template of the model. Raise `BackendError` if there is none or it is unusable.

    Templates come with the weights only, and transformers runs them in a sandbox. User input is never used as a
    template.
    """
    if plain:
        if system:
            raise BackendError("Plain turns have no system message: put its text into the prompt.")
        return Frame(plain=True)
    if not isinstance(tokenizer.chat_template, str):
        raise BackendError("The model has no chat template (or several): choose 'plain', which sends only the prompt.")
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": _MESSAGE})
    before, after = _split(_render(tokenizer, messages, prompt=True), _MESSAGE)
    with_reply = _render(tokenizer, [*messages, {"role": "assistant", "content": _REPLY}], prompt=False)
    digest = sha256(tokenizer.chat_template.encode()).hexdigest()
    return Frame(before, after, _split(with_reply, _REPLY)[1], digest)


def _render(tokenizer: Any, messages: list[dict[str, str]], *, prompt: bool) -> str:
    try:
        # Disable reasoning output, because only the summary is wanted. Templates without this option ignore it.
        text: str = tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=prompt, enable_thinking=False
        )
    except (TemplateError, TypeError, ValueError) as error:
        raise BackendError(f"The model's chat template rejects the messages: {error}") from error
    return text


def _split(rendered: str, word: str) -> tuple[str, str]:
    before, *after = rendered.split(word)
    if len(after) != 1:
        raise BackendError(
            "The model's chat template does not include a message exactly once and unchanged: it cannot be used."
        )
    return before, after[0]


class Turns:
    """Token ids of prompts in a frame."""

    def __init__(self, tokenizer: Any, frame: Frame) -> None:
        self.tokenizer, self.frame = tokenizer, frame
        added = {token: word.content for token, word in tokenizer.added_tokens_decoder.items()}
        #: Tokens that no text may contain. White space that is a token of its own is not markup.
        self.markup = {token for token, word in added.items() if word.strip()} | set(tokenizer.all_special_ids)
        words = sorted({word for token, word in added.items() if token in self.markup}, key=len, reverse=True)
        self._words = re.compile("|".join(map(re.escape, words))) if words else None
        written = {match[0].casefold() for match in _TEXT_MARKUP.finditer(f"{frame.before} {frame.after} {frame.end}")}
        self._written = written - {word.casefold() for word in words}

    def ids(self, message: str) -> list[int]:
        """Return the token ids of the prompt with this message, stripped of surrounding blanks.

        A message without markup is tokenized together with the frame, as in training. Otherwise the message is
        tokenized separately, and its markup becomes ordinary characters.
        """
        message = self._break_markup(message.strip())
        before, after = self._encode(self.frame.before), self._encode(self.frame.after)
        ids = self._encode(self.frame.before + message + self.frame.after)
        if self._markup_tokens(ids) != self._markup_tokens([*before, *after]):
            ids = [*before, *self.literal(message), *after]
        return [*self._leading_tokens(), *ids] if self.frame.plain else ids

    def stops(self, model_stops: int | Sequence[int] | None) -> list[int]:
        """Return the tokens that end a reply: those of the model, the tokenizer and the template."""
        stops = {model_stops} if isinstance(model_stops, int) else set(model_stops or ())
        return sorted(token for token in {*stops, self.tokenizer.eos_token_id, self._end_token()} if token is not None)

    def reply(self, text: str) -> tuple[list[int], list[bool]]:
        """Return the token ids of a complete reply, and flags for special tokens.

        Only an end token, if any, is special.
        """
        # After a plain prompt, a reply begins with a space, as the model would generate it, unless the tokenizer adds
        # one.
        space = self.frame.plain and not self.tokenizer.convert_ids_to_tokens(self._encode("a")[0]).startswith(
            ("▁", "Ġ")
        )
        ids = self.literal(f" {text}" if space else text)
        end = self._end_token() if self._end_token() is not None else self.tokenizer.eos_token_id
        return [*ids, *([] if end is None else [end])], [False] * len(ids) + [True] * (end is not None)

    def literal(self, text: str) -> list[int]:
        """Return the token ids of a text without markup tokens. Raise ValueError if that is impossible."""
        for pieces in (self._pieces(text), list(text)):
            ids = [token for piece in pieces for token in self._encode(piece, split=True)]
            if not self._markup_tokens(ids):
                return ids
        raise ValueError("The text contains a control token that this tokenizer cannot encode as plain characters.")

    def _markup_tokens(self, ids: Sequence[int]) -> list[int]:
        # The unknown token is not markup.
        return [token for token in ids if token in self.markup and token != self.tokenizer.unk_token_id]

    def _pieces(self, text: str) -> list[str]:
        """Split the text inside every control token, after its first character."""
        cuts = [match.start() + 1 for match in self._words.finditer(text)] if self._words else []
        return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if a < b]

    def _break_markup(self, text: str) -> str:
        """Insert a space into turn markup of the frame that is not a token of its own: ``[INST ]``."""
        if not self._written:
            return text
        return _TEXT_MARKUP.sub(
            lambda match: f"{match[0][:-1]} {match[0][-1]}" if match[0].casefold() in self._written else match[0], text
        )

    def _end_token(self) -> int | None:
        """Return the control token that ends a turn, or None if a turn ends in ordinary characters."""
        first = self._encode(self.frame.end)[:1]
        return first[0] if first and first[0] in self.markup else None

    def _leading_tokens(self) -> list[int]:
        """Return the special tokens that the tokenizer adds before a text."""
        coded = self.tokenizer("a", return_special_tokens_mask=True, verbose=False)
        return list(coded["input_ids"][: coded["special_tokens_mask"].index(0)])

    def _encode(self, text: str, *, split: bool = False) -> list[int]:
        ids: list[int] = self.tokenizer(
            text, add_special_tokens=False, split_special_tokens=split, truncation=False, verbose=False
        )["input_ids"]
        return ids
