"""What a version is: a checked configuration, and the hash that names it."""

from collections.abc import Mapping
from typing import Any

from api.parameters import check
from api.problems import Refused
from audit.digests import digest_of

from .. import backends
from ..backends.protocol import SECTIONS, Backend, Config, Facts
from ..models import UnitLevel


def backend_of(config: Config) -> Backend:
    """The backend that a configuration names; `Refused` where there is none."""
    try:
        return backends.get(config.get("backend", ""))
    except (KeyError, TypeError):
        known = ", ".join(backend.key for backend in backends.every())
        raise Refused.field("backend", f"There is no such backend; there are: {known}.") from None


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The whole configuration, every default written out; `Refused` names each field that is wrong (``model.dtype``).

    Written out because a default may change with the next version of Concord, and a version must not change with it.
    """
    backend = backend_of(given)
    clean: dict[str, Any] = {"backend": backend.key}
    faults: list[tuple[str, str]] = [
        (name, "There is no such field.") for name in given if name not in ("backend", "level", "seed", *SECTIONS)
    ]
    clean["level"] = given.get("level", UnitLevel.PROPOSITION.value)
    if clean["level"] not in UnitLevel.values:
        faults.append(("level", f"One of: {', '.join(UnitLevel.values)}."))
    seed = clean["seed"] = given.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**31:
        faults.append(("seed", "A whole number from 0 to 2147483647."))
    for section in SECTIONS:
        values = given.get(section, {})
        if not isinstance(values, Mapping):
            faults.append((section, "An object of parameters."))
            continue
        clean[section], wrong = check(backend.sections.get(section, ()), values)
        faults += [(f"{section}.{name}", sentence) for name, sentence in wrong]
    if faults:
        raise Refused(faults[0][1], errors=[{"field": field, "message": message} for field, message in faults])
    return clean


def hash_of(config: Config, facts: Facts) -> str:
    """SHA-256 over everything that can change an output, in hex."""
    return digest_of({"config": config, "facts": facts})
