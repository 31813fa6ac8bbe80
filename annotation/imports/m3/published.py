"""Items in the published shape, keys in the published order."""

from typing import Any

from ...corpus.items import SLOTS, Item
from .records import JOIN


def as_published(item: Item) -> dict[str, Any]:
    """The object whose ``json.dumps(..., ensure_ascii=False)`` is the published line."""
    joined = JOIN.join(s.text for s in item.inputs)
    if item.said is None:
        return {
            "docid": item.key,
            "target_text": item.text,
            "input_text": joined,
            "input_studies": [{"source_pmid": s.pmid, "source_text": s.text} for s in item.inputs],
        }
    return {
        "docid": item.key,
        "pico": dict(zip(SLOTS, item.pico, strict=True)),
        "discourse_relation": item.relation,
        "target_modality": item.said.modality,
        "target_direction": item.said.polarity,
        "target_modality_span": item.said.modality_cue,
        "target_direction_span": item.said.polarity_cue,
        "target_text": item.text,
        "input_text": joined,
        "input_studies": [
            {
                "source_pmid": s.pmid,
                "source_text": s.text,
                "source_direction": s.said.polarity,
                "source_modality": s.said.modality,
                "source_direction_span": s.said.polarity_cue,
                "source_modality_span": s.said.modality_cue,
            }
            for s in item.inputs
            if s.said
        ],
    }
