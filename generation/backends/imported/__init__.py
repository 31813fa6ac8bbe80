"""Summaries imported from a file of keys and texts: outputs are looked up by the key of the unit."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from api.parameters import Parameter, Takes

from ..protocol import BackendError, Config, Facts, Failure, Finish, Output, Source, Unprobed
from ..weights import unchanged
from .storage import CHANGED, open_stored
from .survey import Changed, Survey

GROUP = 200
ABSENT = "The file has no output for this unit."


class ImportedBackend:
    key = "imported"
    name = "Imported"
    description = "Summaries of another program, from a file: CSV or JSONL with a key and a text, or MSLR predictions."
    no_probe = "Imported summaries have no model on this server, so no text has a likelihood."
    sections: Mapping[str, tuple[Parameter, ...]] = {
        "model": (
            Parameter(
                "file",
                Takes.TEXT,
                "File (SHA-256)",
                "",
                required=True,
                help="As returned by the upload of the outputs file.",
            ),
            Parameter("name", Takes.TEXT, "Name of the file", "outputs"),
            Parameter("made_by", Takes.TEXT, "Made by", "", help="The system, with a reference to its description."),
        )
    }

    def needs_torch(self, config: Config) -> bool:
        return False

    def weights(self, config: Config) -> str:
        return ""

    def facts(self, config: Config) -> dict[str, Any]:
        with closing(open_stored(config["model"]["file"])) as survey:
            return _facts(survey, config)

    def load(self, config: Config, facts: Facts) -> "Outputs":
        survey = open_stored(config["model"]["file"])
        try:
            unchanged(facts, _facts(survey, config))
        except BackendError:
            survey.close()
            raise
        return Outputs(survey, config["model"]["name"])


def _facts(survey: Survey, config: Config) -> dict[str, Any]:
    about = survey.about
    return {
        "reader": about.reader,
        "sha256": about.sha256,
        "name": config["model"]["name"],
        "format": about.format,
        "outputs": about.outputs,
    }


class Outputs(Unprobed):
    """The outputs of a file, by key."""

    def __init__(self, survey: Survey, name: str) -> None:
        self.survey, self.name = survey, name

    def summarise(self, sources: Sequence[Source]) -> Iterator[list[Output | Failure]]:
        for begin in range(0, len(sources), GROUP):
            yield [self._one(source) for source in sources[begin : begin + GROUP]]

    def _one(self, source: Source) -> Output | Failure:
        location = self.survey.find(source.key)
        if location is None:
            return Failure(source.unit, ABSENT)
        # The file records neither the finish reason nor the duration.
        try:
            text = self.survey.text(location)
        except (Changed, OSError) as error:
            raise BackendError(CHANGED) from error
        return Output(source.unit, text, Finish.UNKNOWN, record={"file": self.name, "line": location.line})

    def close(self) -> None:
        self.survey.close()
