"""Presets of versions: the summarisers of the papers, as data.

``decoding`` holds the defaults published with the weights, if known. Missing settings come from the checkpoint.
``memory`` lists settings that were not verified: compare them with the model card before you cite them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

M3 = "M3 (Otmakhova et al., Findings of EMNLP 2022)"
MS2 = "MS^2 (DeYoung et al., EMNLP 2021)"
MSLR = "MSLR2022 (Wang et al., SDP 2022)"
MEDIQA = "MEDIQA-AnS (Savery et al., Scientific Data 2020)"
TEXT_RANK = "TextRank (Mihalcea and Tarau, EMNLP 2004)"
MMR = "MMR (Carbonell and Goldstein, SIGIR 1998)"

SAFETENSORS = "If the hub has no safetensors, convert the weights offline and copy the folder to the models folder."
#: Fields that a lead must fill in: a folder of weights, or a file.
FOLDER, FILE = "model.model", "model.file"


@dataclass(frozen=True)
class Preset:
    """A preset of a version. ``needs`` lists the fields (``section.name``) that the user must fill in."""

    key: str
    name: str
    paper: str
    backend: str
    config: Mapping[str, Any]
    licence: str = ""
    note: str = ""
    memory: str = ""
    needs: tuple[str, ...] = field(default=())

    @property
    def says(self) -> str:
        """The description of the preset."""
        memory = f"Not verified: {self.memory}" if self.memory else ""
        licence = f"Licence: {self.licence}." if self.licence else ""
        return " ".join(filter(None, (self.note, memory, licence)))


def _seq2seq(model: str, *, tokens: int | None, level: str = "proposition", **decoding: Any) -> dict[str, Any]:
    return {"level": level, "model": {"model": model}, "assembly": {"input_tokens": tokens}, "decoding": decoding}


def _prompted(preset: Preset) -> tuple[Preset, Preset]:
    """Return a system of M3 without and with the PICO tuple before each input."""
    assembly = {**preset.config["assembly"], "pico": True}
    note = (
        "With M3's PICO prompt: the tuple before each input. M3 reports it only for MS^2's BART: ROUGE-1 rose from "
        "23.7 to 38.6, and the share of fully correct outputs fell from 14% to 0%."
    )
    return preset, replace(
        preset,
        key=f"{preset.key}-pico",
        name=f"{preset.name}, PICO prompt",
        config={**preset.config, "assembly": assembly},
        note=f"{note} {preset.note}".strip(),
    )


_OF_M3 = (
    Preset(
        "bart-xsum",
        "BART-XSum",
        M3,
        "seq2seq",
        _seq2seq(
            "facebook/bart-large-xsum",
            tokens=1024,
            beams=6,
            max_length=62,
            min_length=11,
            no_repeat_ngram=3,
            forced_bos="none",
        ),
        "MIT",
        "406 M parameters. Unlike bart-large-cnn it has no forced first token.",
    ),
    Preset(
        "bart-cochrane",
        "BART-Cochrane",
        M3,
        "seq2seq",
        _seq2seq("", tokens=1024),
        note="Fine-tuned on Cochrane reviews by the authors, who do not cite the weights: provide your own folder.",
        needs=(FOLDER,),
    ),
    Preset(
        "biobart-cochrane",
        "BioBART-Cochrane",
        M3,
        "seq2seq",
        _seq2seq("", tokens=1024),
        "Apache-2.0 (BioBART-large)",
        "As BART-Cochrane, from BioBART-large: provide your own folder.",
        needs=(FOLDER,),
    ),
    Preset(
        "pegasus-cochrane",
        "PEGASUS-Cochrane",
        M3,
        "seq2seq",
        _seq2seq("", tokens=None),
        "see the card of the model that was fine-tuned",
        "As BART-Cochrane, from PEGASUS: provide your own folder. Inputs are cut at the limit of the model.",
        needs=(FOLDER,),
    ),
    Preset(
        "pegasus-xsum",
        "PEGASUS-XSum",
        M3,
        "seq2seq",
        _seq2seq("google/pegasus-xsum", tokens=512, beams=8, length_penalty=0.6, max_length=64),
        "see the model card",
        f"568 M parameters. {SAFETENSORS}",
        "8 beams, length penalty 0.6, at most 64 tokens.",
    ),
    Preset(
        "pegasus-pubmed",
        "PEGASUS-PubMed",
        M3,
        "seq2seq",
        _seq2seq("google/pegasus-pubmed", tokens=1024, beams=8, length_penalty=0.8, max_length=256),
        "see the model card",
        f"568 M parameters. {SAFETENSORS}",
        "8 beams, length penalty 0.8, at most 256 tokens.",
    ),
    Preset(
        "bigbird-pubmed",
        "BigBird-PubMed",
        M3,
        "seq2seq",
        _seq2seq("google/bigbird-pegasus-large-pubmed", tokens=4096, beams=5, length_penalty=0.8, max_length=256),
        "Apache-2.0",
        f"577 M parameters; blocks of 64, 3 random ones. Published outputs have 221 tokens on average. {SAFETENSORS}",
        "5 beams, length penalty 0.8, at most 256 tokens.",
    ),
    Preset(
        "primera",
        "PRIMERA",
        M3,
        "seq2seq",
        _seq2seq("allenai/PRIMERA", tokens=4096, beams=5, max_length=1024),
        "Apache-2.0",
        "447 M parameters. Inputs are separated by <doc-sep>, which has full attention, and each has an equal share of "
        f"the 4,096 tokens. {SAFETENSORS}",
        "5 beams, at most 1,024 tokens.",
    ),
    Preset(
        "primera-cochrane",
        "PRIMERA-Cochrane",
        M3,
        "seq2seq",
        _seq2seq("", tokens=4096),
        "Apache-2.0 (PRIMERA)",
        "As BART-Cochrane, from PRIMERA, with its separators: provide your own folder.",
        needs=(FOLDER,),
    ),
)

_MS2_DECODING = {
    "beams": 6,
    "min_length": 20,
    "max_length": 512,
    "length_penalty": 2.0,
    "no_repeat_ngram": 3,
    "early_stopping": "yes",
    "decoder_start": "bos",
}
_MS2_BEAMS = "6 beams as in the paper's README (the default of its code is 4)."
_MS2_CONVERT = (
    "The weights are a Lightning checkpoint: convert it offline to safetensors, with the markers of its code in the "
    "tokenizer, and copy the folder to the models folder."
)


_MS2_TEXTS = {"markers": "ms2", "background": True, "tags": "background and inputs"}


def _ms2_bart(masking: str) -> dict[str, Any]:
    assembly = {**_MS2_TEXTS, "input_tokens": 1024, "documents": 25, "masking": masking}
    return {"level": "document", "model": {"model": ""}, "assembly": assembly, "decoding": _MS2_DECODING}


_OF_MS2 = (
    Preset(
        "ms2-bart",
        "MS^2 BART",
        MS2,
        "multi_encode",
        _ms2_bart("as the ms2 checkpoint"),
        "code Apache-2.0; data under the Semantic Scholar licence",
        "Each study is encoded separately, with the background; the encoder reads the padding to the review's longest "
        f"study, as in the training of the checkpoint. {_MS2_BEAMS} {_MS2_CONVERT}",
        needs=(FOLDER,),
    ),
    Preset(
        "ms2-bart-masked",
        "MS^2 BART, masked variant",
        MS2,
        "multi_encode",
        _ms2_bart("masked"),
        "code Apache-2.0; data under the Semantic Scholar licence",
        f"As MS^2 BART, but padding is not read, unlike in the paper. {_MS2_CONVERT}",
        needs=(FOLDER,),
    ),
    Preset(
        "ms2-led",
        "MS^2 LED",
        MS2,
        "seq2seq",
        {
            "level": "document",
            "model": {"model": ""},
            "decoding": _MS2_DECODING,
            "assembly": {**_MS2_TEXTS, "input_tokens": 16_320, "full_attention": "background"},
        },
        "code Apache-2.0; data under the Semantic Scholar licence",
        "Background and studies form one text; the background has full attention. The paper's model attends in windows "
        "of 340 tokens that do not overlap, LED here in overlapping windows, so figures differ slightly. "
        f"{_MS2_BEAMS} {_MS2_CONVERT}",
        needs=(FOLDER,),
    ),
    Preset(
        "ms2-table",
        "MS^2 BART, table-to-table",
        MS2,
        "multi_encode",
        {
            "level": "pair",
            "model": {"model": ""},
            "assembly": {
                "markers": "ms2",
                "background": True,
                "input_tokens": 1024,
                "documents": 25,
                "masking": "as the ms2 checkpoint",
            },
            "decoding": {**_MS2_DECODING, "min_length": 2, "max_length": 10},
        },
        "code Apache-2.0; data under the Semantic Scholar licence",
        "For each pair of an intervention and an outcome, the effects that at most 25 studies state; the output is the "
        f"direction, in at most 10 tokens. {_MS2_BEAMS} {_MS2_CONVERT}",
        needs=(FOLDER,),
    ),
    Preset(
        "led-cochrane",
        "LED-base, Cochrane",
        MSLR,
        "seq2seq",
        _seq2seq("allenai/led-base-16384-cochrane", tokens=16_384, level="document"),
        "see the model card",
        f"The baseline of the shared task, decoded as on its model card. {SAFETENSORS}",
    ),
    Preset(
        "led-ms2",
        "LED-base, MS^2",
        MSLR,
        "seq2seq",
        _seq2seq("allenai/led-base-16384-ms2", tokens=16_384, level="document"),
        "see the model card",
        f"The baseline of the shared task, decoded as on its model card. {SAFETENSORS}",
        "its name on the hub.",
    ),
)


def _sentences(method: str, level: str = "document", **decoding: Any) -> dict[str, Any]:
    return {"level": level, "seed": 0, "decoding": {"method": method, "limit": "sentences", "sentences": 3, **decoding}}


_COPYING = (
    Preset("lead-3", "Lead-3", MEDIQA, "extractive", _sentences("lead"), note="The first three sentences."),
    Preset(
        "random-3",
        "3-random",
        MEDIQA,
        "extractive",
        _sentences("random"),
        note="Three random sentences, selected with the seed.",
    ),
    Preset(
        "rouge-3",
        "3-best ROUGE",
        MEDIQA,
        "extractive",
        _sentences("best ROUGE-L", against="question"),
        note="The three sentences with the best ROUGE-L against the question.",
    ),
    Preset(
        "textrank-3",
        "TextRank",
        TEXT_RANK,
        "extractive",
        _sentences("TextRank", similarity="word overlap", damping=0.85),
        note="The three most central sentences; word overlap and damping 0.85 as in the paper.",
    ),
    Preset(
        "mmr-3",
        "MMR",
        MMR,
        "extractive",
        _sentences("MMR", vectors="tf-idf", relevance="inputs", trade_off=0.7),
        note="Three central and mutually dissimilar sentences by tf-idf; no model is needed.",
    ),
    Preset(
        "mmr-3-embeddings",
        "MMR, embeddings",
        MMR,
        "extractive",
        _sentences("MMR", vectors="embeddings", relevance="inputs", trade_off=0.7),
        needs=("decoding.encoder",),
        note="As MMR, with sentence embeddings: provide a sentence-transformers folder.",
    ),
)

_ELSEWHERE = tuple(
    Preset(
        key,
        name,
        MEDIQA,
        "imported",
        {"level": "document", "model": {"made_by": made_by}},
        note="Trained on BioASQ with code that Concord does not run: upload the file of its outputs.",
        needs=(FILE,),
    )
    for key, name, made_by in (
        ("bilstm", "BiLSTM", "BiLSTM, trained on BioASQ (Savery et al. 2020)"),
        ("pointer-generator", "Pointer-generator", "Pointer-generator, trained on BioASQ (Savery et al. 2020)"),
    )
)

PRESETS: tuple[Preset, ...] = (
    *(variant for preset in _OF_M3 for variant in _prompted(preset)),
    *_OF_MS2,
    *_COPYING,
    *_ELSEWHERE,
)


def get(key: str) -> Preset:
    """Return the preset with this key. Raise KeyError if there is none."""
    return {preset.key: preset for preset in PRESETS}[key]
