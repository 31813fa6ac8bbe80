"""Validation of citation files against their published JSON schemas."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

from api.problems import Refused

SCHEMAS = Path(__file__).with_name("schemas")
CFF, DATACITE = "cff-1.2.0.json", "datacite-4.5.json"


@cache
def _validator(schema: str) -> Validator:
    content = json.loads((SCHEMAS / schema).read_bytes())
    return validator_for(content)(content)


@cache
def values_of(schema: str, definition: str) -> frozenset[str]:
    """Return the values of an enumeration that a schema defines."""
    return frozenset(json.loads((SCHEMAS / schema).read_bytes())["definitions"][definition]["enum"])


def faults(content: dict[str, Any], schema: str) -> list[str]:
    """Return each difference between the content of a file and its schema, as "path: message"."""
    errors = _validator(schema).iter_errors(content)
    return [f"{'.'.join(str(part) for part in error.absolute_path) or 'file'}: {error.message}" for error in errors]


def check(file: str, content: dict[str, Any], schema: str) -> None:
    """Raise `Refused` if the content of a file does not follow its schema."""
    if found := faults(content, schema):
        raise Refused(f"{file} would not follow its schema ({schema}). {found[0]}")
