"""The backend: outputs are looked up by the unit's key."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from api.parameters import Parameter, Takes

from ..protocol import BackendError, Config, Facts, Failure, Finish, Output, Source, Unprobed
from ..weights import unchanged
from .kept import CHANGED, open_kept
from .survey import Changed, Survey

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
        with closing(open_kept(config["model"]["file"])) as found:
            return _facts(found, config)

    def load(self, config: Config, facts: Facts) -> "Outputs":
        found = open_kept(config["model"]["file"])
        try:
            unchanged(facts, _facts(found, config))
        except BackendError:
            found.close()
            raise
        return Outputs(found, config["model"]["name"])


def _facts(found: Survey, config: Config) -> dict[str, Any]:
    about = found.about
    return {
        "reader": about.reader,
        "sha256": about.sha256,
        "name": config["model"]["name"],
        "format": about.format,
        "outputs": about.outputs,
    }


class Outputs(Unprobed):
    """The outputs of a file, by key."""

    def __init__(self, found: Survey, name: str) -> None:
        self.survey, self.name = found, name

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        for begin in range(0, len(sources), GROUP):
            yield [self._one(source) for source in sources[begin : begin + GROUP]]

    def _one(self, source: Source) -> Output | Failure:
        place = self.survey.place(source.key)
        if place is None:
            return Failure(source.unit, ABSENT)
        # Why a text ends where it does, and how long it took, nobody here knows.
        try:
            text = self.survey.text(place)
        except (Changed, OSError) as error:
            raise BackendError(CHANGED) from error
        return Output(source.unit, text, Finish.UNKNOWN, record={"file": self.name, "line": place.line})

    def close(self) -> None:
        self.survey.close()
