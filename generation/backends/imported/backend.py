"""The backend: outputs are looked up by the unit's key."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..parameters import Parameter, Takes
from ..protocol import BackendError, Config, Facts, Failure, Finish, Output, Source, Unprobed
from ..weights import unchanged
from .kept import path_of
from .reading import READER
from .survey import Survey, survey

GROUP = 200
ABSENT = "Its key is not in the file."


class ImportedBackend:
    key = "imported"
    name = "Made elsewhere"
    description = (
        "Summaries that were made elsewhere, from a file: CSV or JSONL with a key and a text, MSLR predictions."
    )
    no_probe = "The summaries were made elsewhere: there is no model here that could give a text a likelihood."
    sections: Mapping[str, tuple[Parameter, ...]] = {
        "model": (
            Parameter("file", Takes.TEXT, "File (SHA-256)", "", required=True,
                      help="As the upload of a file of outputs says."),
            Parameter("name", Takes.TEXT, "Name of the file", "outputs"),
            Parameter("made_by", Takes.TEXT, "Made by", "", help="The system, with where it is described."),
        ),
    }  # fmt: skip

    def needs_torch(self, config: Config) -> bool:
        return False

    def weights(self, config: Config) -> str:
        return ""

    def facts(self, config: Config) -> dict[str, Any]:
        return _facts(_read(config))

    def load(self, config: Config, facts: Facts) -> "Outputs":
        found = _read(config)
        unchanged(facts, _facts(found))
        return Outputs(found)


def _read(config: Config) -> Survey:
    """The file of a configuration, without a fault. Raises `BackendError`."""
    model = config["model"]
    path = path_of(model["file"])
    try:
        found = survey(path, model["name"])
    except OSError as error:
        raise BackendError(f"The file of outputs cannot be read: {error.strerror}.") from error
    if found.sha256 != model["file"]:
        raise BackendError("The file of outputs is not what it was when it was uploaded.")
    if found.faults:
        first = "; ".join(map(str, found.faults.listed[:3]))
        raise BackendError(f"The file of outputs has {found.faults.total} faults: {first}.")
    return found


def _facts(found: Survey) -> dict[str, Any]:
    return {
        "reader": READER,
        "sha256": found.sha256,
        "name": found.name,
        "format": found.format,
        "outputs": len(found.places),
    }


class Outputs(Unprobed):
    """The outputs of a file, by key."""

    def __init__(self, found: Survey) -> None:
        self.survey = found

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        for begin in range(0, len(sources), GROUP):
            yield [self._one(source) for source in sources[begin : begin + GROUP]]

    def _one(self, source: Source) -> Output | Failure:
        place = self.survey.places.get(source.key)
        if place is None:
            return Failure(source.unit, ABSENT)
        # Why a text ends where it does, and how long it took, nobody here knows.
        text = self.survey.text(source.key)
        return Output(source.unit, text, Finish.UNKNOWN, record={"file": self.survey.name, "line": place.line})

    def close(self) -> None:
        pass
