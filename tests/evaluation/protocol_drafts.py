"""Small valid protocols as JSON, with one criterion of each scale."""

from typing import Any

Json = dict[str, Any]


def option(value: str, anchor: str = "What it means.") -> Json:
    return {"value": value, "label": value.title(), "anchor": anchor}


def criterion(key: str = "coherence", type: str = "likert", **rest: Any) -> Json:
    """Return a complete criterion."""
    scales: dict[str, Json] = {
        "likert": {"options": [option(str(n)) for n in range(1, 6)]},
        "categorical": {"options": [option("yes"), option("no")]},
        "multi-label": {"options": [option("grammar"), option("content")]},
        "spans": {"options": [option("unsupported")], "severities": [option("minor"), option("major")]},
        "slider": {"minimum": 0, "maximum": 100, "step": 0.5},
        "preference": {"options": [option("left"), option("right")]},
        "best-worst": {"options": [option("best"), option("neither"), option("worst")]},
        "text": {},
    }
    scale = {"type": type} | scales[type]
    return {"key": key, "name": key.title(), "question": f"What of {key}?", "scale": scale} | rest


def protocol(*criteria: Json, **rest: Any) -> Json:
    own = {"preference": "compare", "best-worst": "best_worst"}
    kind = next((own[c["scale"]["type"]] for c in criteria if c["scale"]["type"] in own), "rate")
    return {"schema": 1, "kind": kind, "title": "Draft", "criteria": list(criteria)} | rest
