"""Chat models with weights of one's own: one user turn a unit, in the turns that the model was trained on."""

from collections.abc import Mapping
from typing import Any

from api.parameters import Parameter, Takes

from . import assembly, weights
from .weighted import Weighted

TEMPLATE = (
    "Summarise in one or two sentences what the following medical studies found together. State the direction of the "
    "effect and how certain the evidence is. Answer with the summary only.\n\n{inputs}"
)
TURNS = Parameter("turns", Takes.CHOICE, "Turns", "the model's", choices=("the model's", "plain"),
                  help="Plain: the prompt alone, for models without a chat template.")  # fmt: skip
SEPARATOR = Parameter("separator", Takes.TEXT, "Separator between inputs", "\n\n")
_SAMPLING = ("method", ("sampling",))
_BEAMS = ("method", ("beam",))


class ChatBackend(Weighted):
    key = "chat"
    name = "Chat model"
    description = "An instruction-tuned model (decoder alone) by its chat template, from a folder or the hub."
    sections: Mapping[str, tuple[Parameter, ...]] = {
        "model": (*weights.WEIGHTS, TURNS),
        "assembly": (assembly.ORDER, assembly.DOCUMENTS, assembly.TITLES, assembly.PICO, SEPARATOR,
                     assembly.INPUT_TOKENS, assembly.BUDGET),
        "prompt": (
            Parameter("system", Takes.LONG_TEXT, "System message", "", fields=(),
                      help="The same for every unit: no field is filled in."),
            Parameter("template", Takes.LONG_TEXT, "Prompt", TEMPLATE, required=True,
                      fields=assembly.NAMES, needs=("inputs",),
                      help=f"Fields: {', '.join(f'{{{name}}}' for name in assembly.NAMES)}. Nothing is evaluated."),
        ),
        "decoding": (
            Parameter("method", Takes.CHOICE, "Method", "greedy", choices=("greedy", "beam", "sampling")),
            Parameter("max_new_tokens", Takes.INTEGER, "New tokens at most", 256, minimum=1, maximum=8192,
                      required=True),
            Parameter("min_new_tokens", Takes.INTEGER, "New tokens at least", None, minimum=0, maximum=8192),
            Parameter("num_beams", Takes.INTEGER, "Beams", 4, minimum=2, maximum=32, required=True,
                      when=_BEAMS),
            Parameter("length_penalty", Takes.NUMBER, "Length penalty", 1.0, minimum=-10, maximum=10, required=True,
                      when=_BEAMS),
            Parameter("early_stopping", Takes.SWITCH, "Stop when as many beams are done", False, when=_BEAMS),
            Parameter("temperature", Takes.NUMBER, "Temperature", None, minimum=0.01, maximum=10, when=_SAMPLING,
                      help="Empty, here and below: the model's own default."),
            Parameter("top_p", Takes.NUMBER, "Nucleus (top p)", None, minimum=0.01, maximum=1, when=_SAMPLING),
            Parameter("top_k", Takes.INTEGER, "Top k", None, minimum=0, maximum=1_000_000, when=_SAMPLING),
            Parameter("repetition_penalty", Takes.NUMBER, "Repetition penalty", None, minimum=0.1, maximum=10),
            Parameter("no_repeat_ngram_size", Takes.INTEGER, "No n-gram twice", None, minimum=0, maximum=100,
                      help="Of the prompt's n-grams too: a decoder alone sees no difference."),
        ),
    }  # fmt: skip

    def neural(self) -> Any:
        from ..neural.summarisers import chat

        return chat
