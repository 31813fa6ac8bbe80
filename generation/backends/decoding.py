"""How an encoder-decoder writes: what may be configured. Empty means what the checkpoint's own defaults say."""

from api.parameters import Parameter, Takes

METHOD = Parameter("method", Takes.CHOICE, "Method", "beam search", choices=("beam search", "sampling"),
                   help="One beam is greedy decoding. Sampling is seeded for each unit.")  # fmt: skip
_BEAMS = ("method", ("beam search",))
_SAMPLING = ("method", ("sampling",))
DECODER_START = Parameter("decoder_start", Takes.CHOICE, "The decoder starts with", "default",
                          choices=("default", "bos"), help="bos: as MS^2's checkpoints do.")  # fmt: skip
#: Lengths are in tokens and count the one that the decoder starts with, as transformers counts them.
DECODING = (
    METHOD,
    Parameter("beams", Takes.INTEGER, "Beams", None, minimum=1, maximum=32, when=_BEAMS),
    Parameter("length_penalty", Takes.NUMBER, "Length penalty", None, minimum=-10, maximum=10, when=_BEAMS,
              help="The score is divided by length to this power: above 0 favours longer texts."),
    Parameter("early_stopping", Takes.CHOICE, "Early stopping", "default", choices=("default", "yes", "no", "never"),
              when=_BEAMS, help="yes: stop at as many finished beams as there are beams."),
    Parameter("temperature", Takes.NUMBER, "Temperature", 1.0, minimum=0.01, maximum=10, when=_SAMPLING),
    Parameter("top_p", Takes.NUMBER, "Top p", 1.0, minimum=0.01, maximum=1, when=_SAMPLING),
    Parameter("max_length", Takes.INTEGER, "Longest output", None, minimum=2, maximum=16_384,
              help="Tokens. Empty: the checkpoint's, or 128 where it says nothing."),
    Parameter("min_length", Takes.INTEGER, "Shortest output", None, minimum=0, maximum=16_384, help="Tokens."),
    Parameter("no_repeat_ngram", Takes.INTEGER, "No n-gram twice", None, minimum=0, maximum=20,
              help="Of so many tokens; 0: repeats are allowed."),
    Parameter("forced_bos", Takes.CHOICE, "First token", "default", choices=("default", "none", "bos")),
    DECODER_START,
)  # fmt: skip
