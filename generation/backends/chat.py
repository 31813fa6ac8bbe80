"""Backend for local chat models: one user turn per unit, formatted by the chat template of the model."""

from collections.abc import Mapping
from typing import Any

from api.parameters import Parameter, Takes
from generation.backends.weights import Weighted

from . import assembly, weights

TEMPLATE = (
    "Summarise in one or two sentences what the following medical studies found together. State the direction of the "
    "effect and how certain the evidence is. Answer with the summary only.\n\n{inputs}"
)
TURNS = Parameter(
    "turns",
    Takes.CHOICE,
    "Turns",
    "the model's",
    choices=("the model's", "plain"),
    help="plain: only the prompt, for models without a chat template.",
)
SEPARATOR = Parameter("separator", Takes.TEXT, "Separator between inputs", "\n\n")
_SAMPLING = ("method", ("sampling",))
_BEAMS = ("method", ("beam",))


class ChatBackend(Weighted):
    key = "chat"
    name = "Chat model"
    description = "An instruction-tuned decoder-only model with its chat template, from a folder or the hub."
    sections: Mapping[str, tuple[Parameter, ...]] = {
        "model": (*weights.WEIGHTS, TURNS),
        "assembly": (
            assembly.ORDER,
            assembly.DOCUMENTS,
            assembly.PAGES,
            assembly.TITLES,
            assembly.PICO,
            SEPARATOR,
            assembly.INPUT_TOKENS,
            assembly.BUDGET,
        ),
        "prompt": (
            Parameter(
                "system",
                Takes.LONG_TEXT,
                "System message",
                "",
                fields=(),
                help="The same for every unit; fields are not replaced.",
            ),
            Parameter(
                "template",
                Takes.LONG_TEXT,
                "Prompt",
                TEMPLATE,
                required=True,
                fields=assembly.NAMES,
                needs=("inputs",),
                help=f"Fields: {', '.join(f'{{{name}}}' for name in assembly.NAMES)}. Nothing is evaluated.",
            ),
        ),
        "decoding": (
            Parameter("method", Takes.CHOICE, "Method", "greedy", choices=("greedy", "beam", "sampling")),
            Parameter(
                "max_new_tokens", Takes.INTEGER, "Maximum new tokens", 256, minimum=1, maximum=8192, required=True
            ),
            Parameter("min_new_tokens", Takes.INTEGER, "Minimum new tokens", None, minimum=0, maximum=8192),
            Parameter("num_beams", Takes.INTEGER, "Beams", 4, minimum=2, maximum=32, required=True, when=_BEAMS),
            Parameter(
                "length_penalty",
                Takes.NUMBER,
                "Length penalty",
                1.0,
                minimum=-10,
                maximum=10,
                required=True,
                when=_BEAMS,
            ),
            Parameter("early_stopping", Takes.SWITCH, "Early stopping", False, when=_BEAMS),
            Parameter(
                "temperature",
                Takes.NUMBER,
                "Temperature",
                None,
                minimum=0.01,
                maximum=10,
                when=_SAMPLING,
                help="Empty, here and below: the default of the model.",
            ),
            Parameter("top_p", Takes.NUMBER, "Nucleus (top p)", None, minimum=0.01, maximum=1, when=_SAMPLING),
            Parameter("top_k", Takes.INTEGER, "Top k", None, minimum=0, maximum=1_000_000, when=_SAMPLING),
            Parameter("repetition_penalty", Takes.NUMBER, "Repetition penalty", None, minimum=0.1, maximum=10),
            Parameter(
                "no_repeat_ngram_size",
                Takes.INTEGER,
                "No-repeat n-gram size",
                None,
                minimum=0,
                maximum=100,
                help="Includes n-grams of the prompt, because a decoder-only model does not separate prompt "
                "and output.",
            ),
        ),
    }

    def neural(self) -> Any:
        from ..neural.summarisers import chat

        return chat
