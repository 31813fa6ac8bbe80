"""The extractive backend: its parameters, and the loop over units."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from api.parameters import Parameter, Takes
from measures.sentences import SPLITTER

from ..assembly import DOCUMENTS, ORDER, PAGES
from ..protocol import Config, Facts, Failure, Output, Source, Unprobed
from ..weights import unchanged
from .encoder import facts_of
from .methods import METHODS, Encoder, Task
from .pieces import Limit, Sentence, Undefined, pieces

#: Version of the extraction rules. Increase it with any change that can change an output.
RULES = "concord-extractive 1"
RANKED = ("random", "best ROUGE-L", "TextRank", "MMR")
GROUP = 32
GROUP_SECONDS = 1.0

_DECODING = (
    Parameter(
        "method",
        Takes.CHOICE,
        "Method",
        "lead",
        choices=tuple(METHODS),
        help="lead: the first sentences of the inputs in order. lead of each: the first sentence of each input.",
    ),
    Parameter("limit", Takes.CHOICE, "Length in", "sentences", choices=("sentences", "words")),
    Parameter(
        "sentences",
        Takes.INTEGER,
        "Sentences",
        3,
        minimum=1,
        maximum=1000,
        required=True,
        when=("limit", ("sentences",)),
        help="If the inputs have fewer sentences, all are used, and the output says so.",
    ),
    Parameter(
        "words",
        Takes.INTEGER,
        "Maximum words",
        100,
        minimum=1,
        maximum=100_000,
        required=True,
        when=("limit", ("words",)),
        help="Whole sentences, until the next one does not fit.",
    ),
    Parameter(
        "arrangement", Takes.CHOICE, "Arranged by", "document", choices=("document", "score"), when=("method", RANKED)
    ),
    Parameter("distinct", Takes.SWITCH, "Remove duplicate sentences", True, when=("method", RANKED)),
    Parameter(
        "against",
        Takes.CHOICE,
        "Compared with",
        "question",
        choices=("question", "background", "pico"),
        when=("method", ("best ROUGE-L",)),
    ),
    Parameter(
        "similarity",
        Takes.CHOICE,
        "Similarity",
        "word overlap",
        choices=("word overlap", "tf-idf cosine"),
        when=("method", ("TextRank",)),
        help="word overlap: as in the TextRank paper (2004).",
    ),
    Parameter(
        "damping", Takes.NUMBER, "Damping", 0.85, minimum=0, maximum=0.99, required=True, when=("method", ("TextRank",))
    ),
    Parameter(
        "tolerance",
        Takes.NUMBER,
        "Tolerance",
        1e-8,
        minimum=1e-10,
        maximum=0.01,
        required=True,
        when=("method", ("TextRank",)),
        help="The iteration stops when no score changes by this much.",
    ),
    Parameter(
        "trade_off",
        Takes.NUMBER,
        "Lambda",
        0.7,
        minimum=0,
        maximum=1,
        required=True,
        when=("method", ("MMR",)),
        help="1: only relevance. 0: only difference from the selected sentences.",
    ),
    Parameter(
        "relevance",
        Takes.CHOICE,
        "Relevant to",
        "inputs",
        choices=("inputs", "question", "background", "pico"),
        when=("method", ("MMR",)),
        help="inputs: similarity to the mean of all sentences.",
    ),
    Parameter(
        "vectors", Takes.CHOICE, "Vectors", "tf-idf", choices=("tf-idf", "embeddings"), when=("method", ("MMR",))
    ),
    Parameter(
        "encoder",
        Takes.TEXT,
        "Folder of the sentence encoder",
        "",
        required=True,
        when=("vectors", ("embeddings",)),
        help="A folder below the models folder, in sentence-transformers format.",
    ),
)


class ExtractiveBackend:
    key = "extractive"
    name = "Extractive"
    description = "Copies sentences of the inputs: the first, random or most central ones."
    no_probe = "An extractive summariser copies sentences, so it assigns no likelihood to a text."
    sections: Mapping[str, tuple[Parameter, ...]] = {"assembly": (ORDER, DOCUMENTS, PAGES), "decoding": _DECODING}

    def needs_torch(self, config: Config) -> bool:
        return bool(_encoder(config))

    def weights(self, config: Config) -> str:
        return _encoder(config)

    def facts(self, config: Config) -> dict[str, Any]:
        method = config["decoding"]["method"]
        facts: dict[str, Any] = {"rules": RULES, "splitter": SPLITTER}
        libraries = {}
        if method == "random" or config["assembly"]["order"] == "shuffled":
            libraries["python"] = f"{sys.version_info.major}.{sys.version_info.minor}"
        if method in ("TextRank", "MMR"):
            libraries |= {"numpy": version("numpy"), "scipy": version("scipy")}
        if folder := _encoder(config):
            from generation.neural.encoders.embedding import device

            encoder_facts = facts_of(folder)
            libraries |= encoder_facts.pop("libraries")
            facts |= encoder_facts | {"device": device()}
        return facts | {"libraries": libraries}

    def load(self, config: Config, facts: Facts) -> "Extractor":
        unchanged(facts, self.facts(config))
        encoder = None
        if folder := _encoder(config):
            from generation.neural.encoders.embedding import SentenceEncoder

            encoder = SentenceEncoder(folder, facts["device"])
        return Extractor(config, encoder)


def _encoder(config: Config) -> str:
    """Return the folder of the sentence encoder, or an empty string if none is used."""
    decoding = config["decoding"]
    embeds = decoding["method"] == "MMR" and decoding["vectors"] == "embeddings"
    return str(decoding["encoder"]) if embeds else ""


class Extractor(Unprobed):
    """A loaded configuration."""

    def __init__(self, config: Config, encoder: Encoder | None = None) -> None:
        self.config = config
        self.encoder = encoder
        self.limit = Limit.of(config["decoding"])

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        group: list[Output | Failure] = []
        start = time.monotonic()
        for source in sources:
            group.append(self._one(source))
            if len(group) == GROUP or time.monotonic() - start > GROUP_SECONDS:
                yield group
                group, start = [], time.monotonic()
        if group:
            yield group

    def _one(self, source: Source) -> Output | Failure:
        start = time.monotonic()
        decoding, seed = self.config["decoding"], self.config["seed"]
        try:
            sentences = pieces(source, self.config["assembly"], seed=seed)
            ranking = METHODS[decoding["method"]](Task(sentences, source, decoding, seed, self.encoder))
            indices = self.limit.take(ranking, sentences)
        except Undefined as undefined:
            return Failure(source.unit, str(undefined))
        if decoding["arrangement"] == "document":
            indices.sort()
        chosen = [sentences[index] for index in indices]
        text = " ".join(sentence.text for sentence in chosen)
        return Output(source.unit, text, seconds=time.monotonic() - start, record=self._record(chosen, source))

    def _record(self, chosen: Sequence[Sentence], source: Source) -> dict[str, Any]:
        """Return the source of each sentence in summary order, and a note if there are too few sentences."""
        record: dict[str, Any] = {
            "sentences": [
                {"input": s.input, "key": source.inputs[s.input].key, "start": s.start, "end": s.end} for s in chosen
            ]
        }
        limit = self.limit.sentences
        if limit and len(chosen) < limit:
            record["note"] = f"{len(chosen)} of {limit} sentences: the inputs have no more."
        return record

    def close(self) -> None:
        self.encoder = None
