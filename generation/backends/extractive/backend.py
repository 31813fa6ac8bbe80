"""The backend: what can be configured, and the loop over units."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from api.parameters import Parameter, Takes
from measures.sentences import SPLITTER

from ..assembly import DOCUMENTS, ORDER
from ..protocol import Config, Facts, Failure, Output, Source, Unprobed
from ..weights import unchanged
from .encoder import facts_of
from .methods import METHODS, Encoder, Task
from .pieces import Limit, Sentence, Undefined, pieces

#: Name of the rules of these methods; raised with any change that can change an output.
RULES = "concord-extractive 1"
RANKED = ("random", "best ROUGE-L", "TextRank", "MMR")
GROUP = 32
GROUP_SECONDS = 1.0

_DECODING = (
    Parameter("method", Takes.CHOICE, "Method", "lead", choices=tuple(METHODS),
              help="Lead: the first sentences of the inputs, one after the other; or the first sentence of each."),
    Parameter("limit", Takes.CHOICE, "Length in", "sentences", choices=("sentences", "words")),
    Parameter("sentences", Takes.INTEGER, "Sentences", 3, minimum=1, maximum=1000, required=True,
              when=("limit", ("sentences",)), help="All of them, where the inputs have fewer; the output says so."),
    Parameter("words", Takes.INTEGER, "Words at most", 100, minimum=1, maximum=100_000, required=True,
              when=("limit", ("words",)), help="Whole sentences, until the next one would not fit."),
    Parameter("arrangement", Takes.CHOICE, "Arranged by", "document", choices=("document", "score"),
              when=("method", RANKED)),
    Parameter("distinct", Takes.SWITCH, "Take a sentence that stands in the inputs twice only once", True,
              when=("method", RANKED)),
    Parameter("against", Takes.CHOICE, "Compared with", "question", choices=("question", "background", "pico"),
              when=("method", ("best ROUGE-L",))),
    Parameter("similarity", Takes.CHOICE, "Similarity", "word overlap", choices=("word overlap", "tf-idf cosine"),
              when=("method", ("TextRank",)), help="Word overlap: as in the paper of 2004."),
    Parameter("damping", Takes.NUMBER, "Damping", 0.85, minimum=0, maximum=0.99, required=True,
              when=("method", ("TextRank",))),
    Parameter("tolerance", Takes.NUMBER, "Tolerance", 1e-8, minimum=1e-10, maximum=0.01, required=True,
              when=("method", ("TextRank",)), help="The iteration ends when no score moves by so much."),
    Parameter("trade_off", Takes.NUMBER, "Lambda", 0.7, minimum=0, maximum=1, required=True, when=("method", ("MMR",)),
              help="1: relevance alone; 0: difference from what is taken alone."),
    Parameter("relevance", Takes.CHOICE, "Relevant to", "inputs",
              choices=("inputs", "question", "background", "pico"), when=("method", ("MMR",)),
              help="Inputs: to the mean of all sentences."),
    Parameter("vectors", Takes.CHOICE, "Vectors", "tf-idf", choices=("tf-idf", "embeddings"),
              when=("method", ("MMR",))),
    Parameter("encoder", Takes.TEXT, "Folder of the sentence encoder", "", required=True,
              when=("vectors", ("embeddings",)),
              help="A folder below the models' folder, in the form of sentence-transformers."),
)  # fmt: skip


class ExtractiveBackend:
    key = "extractive"
    name = "Extractive"
    description = "Sentences of the inputs, copied: the first ones, random ones, or the most central ones."
    no_probe = "An extractive summariser copies sentences; it gives no text a likelihood."
    sections: Mapping[str, tuple[Parameter, ...]] = {"assembly": (ORDER, DOCUMENTS), "decoding": _DECODING}

    def needs_torch(self, config: Config) -> bool:
        return bool(_encoder(config))

    def weights(self, config: Config) -> str:
        return _encoder(config)

    def facts(self, config: Config) -> dict[str, Any]:
        method = config["decoding"]["method"]
        found: dict[str, Any] = {"rules": RULES, "splitter": SPLITTER}
        libraries = {}
        if method == "random" or config["assembly"]["order"] == "shuffled":
            libraries["python"] = f"{sys.version_info.major}.{sys.version_info.minor}"
        if method in ("TextRank", "MMR"):
            libraries |= {"numpy": version("numpy"), "scipy": version("scipy")}
        if folder := _encoder(config):
            from generation.neural.encoders.embedding import device

            of_encoder = facts_of(folder)
            libraries |= of_encoder.pop("libraries")
            found |= of_encoder | {"device": device()}
        return found | {"libraries": libraries}

    def load(self, config: Config, facts: Facts) -> "Extractor":
        unchanged(facts, self.facts(config))
        encoder = None
        if folder := _encoder(config):
            from generation.neural.encoders.embedding import SentenceEncoder

            encoder = SentenceEncoder(folder, facts["device"])
        return Extractor(config, encoder)


def _encoder(config: Config) -> str:
    """The folder of the encoder, where one is used."""
    decoding = config["decoding"]
    embeds = decoding["method"] == "MMR" and decoding["vectors"] == "embeddings"
    return str(decoding["encoder"]) if embeds else ""


class Extractor(Unprobed):
    """A configuration at work."""

    def __init__(self, config: Config, encoder: Encoder | None = None) -> None:
        self.config = config
        self.encoder = encoder
        self.limit = Limit.of(config["decoding"])

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        group: list[Output | Failure] = []
        began = time.monotonic()
        for source in sources:
            group.append(self._one(source))
            if len(group) == GROUP or time.monotonic() - began > GROUP_SECONDS:
                yield group
                group, began = [], time.monotonic()
        if group:
            yield group

    def _one(self, source: Source) -> Output | Failure:
        began = time.monotonic()
        decoding, seed = self.config["decoding"], self.config["seed"]
        try:
            found = pieces(source, self.config["assembly"], seed=seed)
            ranking = METHODS[decoding["method"]](Task(found, source, decoding, seed, self.encoder))
            taken = self.limit.take(ranking, found)
        except Undefined as undefined:
            return Failure(source.unit, str(undefined))
        if decoding["arrangement"] == "document":
            taken.sort()
        chosen = [found[index] for index in taken]
        text = " ".join(sentence.text for sentence in chosen)
        return Output(source.unit, text, seconds=time.monotonic() - began, record=self._record(chosen, source))

    def _record(self, chosen: Sequence[Sentence], source: Source) -> dict[str, Any]:
        """Where each sentence comes from, in the order of the summary; and that there were fewer than asked for."""
        record: dict[str, Any] = {
            "sentences": [
                {"input": s.input, "key": source.inputs[s.input].key, "start": s.start, "end": s.end} for s in chosen
            ]
        }
        asked = self.limit.sentences
        if asked and len(chosen) < asked:
            record["note"] = f"{len(chosen)} of {asked} sentences: there are no more to take."
        return record

    def close(self) -> None:
        self.encoder = None
