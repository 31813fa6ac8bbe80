"""Train an encoder-decoder to write the targets of a level from the inputs that a version reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotation.models import DataSplit
from api.parameters import Parameter, Takes, check
from api.problems import Refused

from .. import sources
from ..backends.assembly import Unreadable, assemble, reads_pages
from ..backends.identity import checked
from ..exposure import keys_of_materials
from .protocol import DIVIDED, TRAINING, Config, Example, LeftOut, Parts, Trained

#: Backends whose models can be trained.
BACKENDS = ("seq2seq", "multi_encode")
METRICS = ("rouge1", "rouge2", "rougeL")
BATCH = 200
REFERENCE = Parameter(
    "reference",
    Takes.TEXT,
    "Target",
    "",
    help="Name of the written summaries to train on, such as abstractive. Empty: the unit's own target.",
)
TARGET_TOKENS = Parameter(
    "target_tokens", Takes.INTEGER, "Maximum target tokens", 256, minimum=8, maximum=16_384, help="Longer ones are cut."
)
LABEL_SMOOTHING = Parameter(
    "label_smoothing",
    Takes.NUMBER,
    "Label smoothing",
    0.0,
    minimum=0,
    maximum=0.9,
    help="Share of the probability that is given to all other tokens. The development loss is without it.",
)
METRIC = Parameter(
    "metric", Takes.CHOICE, "Metric", "loss", choices=("loss", *METRICS), help="Of the development part."
)
PARAMETERS = (*TRAINING, REFERENCE, TARGET_TOKENS, LABEL_SMOOTHING, METRIC)


def _has(reference: str, name: str) -> bool:
    """Whether a written summary has the asked name, or its form: "abstractive" is also "abstractive by P07"."""
    return name in (reference, reference.partition(" by ")[0])


class Seq2SeqTraining:
    """Trains the model of a version: its configuration decides what the model reads."""

    key = "seq2seq"
    name = "Summariser"
    description = "An encoder-decoder, trained on the inputs that a version assembles and the targets of its level."
    parameters: Sequence[Parameter] = PARAMETERS

    def checked(self, config: Mapping[str, Any]) -> dict[str, Any]:
        version = checked(config.get("version", {}))
        if version["backend"] not in BACKENDS:
            raise Refused.field("version.backend", f"Must be one of: {', '.join(BACKENDS)}.")
        training, faults = check(PARAMETERS, config.get("training", {}))
        if faults:
            errors = [{"field": f"training.{name}", "message": message} for name, message in faults]
            raise Refused(faults[0][1], errors=errors)
        if version["backend"] == "multi_encode" and training["metric"] != "loss":
            raise Refused.field("training.metric", "Inputs that are encoded separately are trained by loss only.")
        return {"version": version, "training": training}

    def split_levels(self, config: Config) -> Sequence[str]:
        return sources.source_of(config["version"]["level"]).splits

    def examples(self, split: DataSplit, config: Config, part: str) -> Iterator[Example | LeftOut]:
        version, name = config["version"], config["training"]["reference"]
        units = list(sources.units_of_part(split, part, version["level"]))
        for start in range(0, len(units), BATCH):
            rows = units[start : start + BATCH]
            ids = [row.unit for row in rows]
            found = sources.materials(split.project, version["level"], ids, pages=reads_pages(version))
            studies = keys_of_materials(version["level"], found)
            for row in rows:
                if row.is_divided:
                    yield LeftOut(row.key, DIVIDED)
                    continue
                material = found.get(row.unit)
                if material is None:
                    yield LeftOut(row.key, "The unit has no inputs.")
                    continue
                source = replace(material.source, key=row.key)
                try:
                    assembled = assemble(source, version["assembly"], seed=version["seed"])
                except Unreadable as error:
                    yield LeftOut(row.key, str(error))
                    continue
                targets = [text for text in material.written if _has(text.name, name)] if name else [material.own]
                targets = [text for text in targets if text and text.text.strip()]
                if not targets:
                    yield LeftOut(row.key, f"The unit has no {f'summary named {name!r}' if name else 'target'}.")
                content = {"before": assembled.before, "documents": assembled.documents, "source": source}
                for text in targets:
                    assert text
                    yield Example(row.key, {**content, "target": text.text}, studies[row.unit])

    def facts(self, config: Config) -> dict[str, Any]:
        from ..neural.training import summarisers

        return summarisers.facts(config)

    def train(self, config: Config, parts: Parts, folder: Path, listener: Any) -> Trained:
        from ..neural.training import summarisers

        return summarisers.train(config, parts, folder, listener)
