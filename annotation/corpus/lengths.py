"""How long texts may be, in characters, wherever they come from: far above what people write, so that whatever reads
them is done in a moment. The longest published claim of M3 has 590, the longest cue 163, the longest slot 131."""

#: A document or an abstract, of a review or of a study: levels 1 and 2.
DOCUMENT = 100_000
#: A proposition, and a counterfactual of one.
CLAIM = 20_000
#: The words that show a value, and those of a PICO slot.
CUE = SLOT = 2_000
#: How many pieces one cue or slot is marked in.
PIECES = 100
#: How many propositions one sentence is split into: M3 has four at most.
TUPLES = 20


def longer(text: str, most: int) -> str | None:
    """What is wrong with a text that is too long, in words; None where it is not."""
    return f"{len(text):,} characters; expected at most {most:,}" if len(text) > most else None
