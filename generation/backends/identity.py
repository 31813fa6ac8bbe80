"""Check the configuration of a version, and compute the hash that identifies it."""

import hashlib
from collections.abc import Mapping
from typing import Any

from api.parameters import check
from api.problems import Refused
from audit.digests import digest_of
from measures.references import WRITTEN_LEVELS
from projects.jobs.queries import NEEDS_TORCH

from .. import backends
from ..models import UnitLevel
from .assembly import reads_pages
from .protocol import SECTIONS, Backend, Config, Facts


def backend_of(config: Config) -> Backend:
    """Return the backend that a configuration names. Raise `Refused` if there is none."""
    try:
        return backends.get(config.get("backend", ""))
    except (KeyError, TypeError):
        known = ", ".join(backend.key for backend in backends.every())
        raise Refused.field("backend", f"Unknown backend. Available: {known}.") from None


def checked(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the full configuration with every default written out.

    Raise `Refused` with the name of each invalid field, such as ``model.dtype``. Defaults are written out because they
    may change in a later release of Concord, and an existing version must not change with them.
    """
    backend = backend_of(config)
    clean: dict[str, Any] = {"backend": backend.key}
    faults: list[tuple[str, str]] = [
        (name, "Unknown field.") for name in config if name not in ("backend", "level", "seed", *SECTIONS)
    ]
    clean["level"] = config.get("level", UnitLevel.PROPOSITION.value)
    if clean["level"] not in UnitLevel.values:
        faults.append(("level", f"Must be one of: {', '.join(UnitLevel.values)}."))
    seed = clean["seed"] = config.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**31:
        faults.append(("seed", "Must be a whole number from 0 to 2147483647."))
    for section in SECTIONS:
        values = config.get(section, {})
        if not isinstance(values, Mapping):
            faults.append((section, "Must be an object of parameters."))
            continue
        clean[section], section_faults = check(backend.sections.get(section, ()), values)
        faults += [(f"{section}.{name}", sentence) for name, sentence in section_faults]
    if reads_pages(clean) and clean["level"] not in WRITTEN_LEVELS:
        faults.append(("assembly.pages", "Only passages have whole pages: choose the level answer or question."))
    if faults:
        raise Refused(faults[0][1], errors=[{"field": field, "message": message} for field, message in faults])
    return clean


def hash_of(config: Config, facts: Facts) -> str:
    """Return the SHA-256, in hex, of everything that can change an output."""
    return digest_of({"config": config, "facts": facts})


#: Queue of the workers without torch.
DEFAULT = "default"
#: A broker has one queue for all of these (`docs/decisions/0022-systems-and-runs.md`).
GPU = NEEDS_TORCH


def queue_of(config: Config) -> str:
    """Return ``default`` if torch is not needed, else ``gpu.`` and twelve hex digits of the hash of the weights."""
    backend = backend_of(config)
    if not backend.needs_torch(config):
        return DEFAULT
    return f"{GPU}.{hashlib.sha256(backend.weights(config).encode()).hexdigest()[:12]}"
