"""Import PubMed records from PubMed XML, the MEDLINE format (.nbib), or a table with a column of PMIDs."""

from collections.abc import Mapping
from pathlib import PurePath

from api.problems import Refused

from ...clusters.items import PMID
from ...imports.format import Ask, Format, Level
from .stream import DIFFERS, REVIEWS, STUDIES, PubMedStream

#: Maximum length of a topic.
TOPIC = 120


class PubMed(Format):
    key = "pubmed"
    material = ("reviews",)
    title = "PubMed: records of reviews or studies (XML, nbib, a CSV table with a column pmid, or a list of PMIDs)"
    levels = (Level(REVIEWS, "reviews"), Level(STUDIES, "studies of reviews"))
    recognises = False
    folders = True
    streams = True
    differences = tuple(DIFFERS.values())
    asks = (
        Ask("topic", "Topic", REVIEWS, "Subject of the reviews, in your own words. Counts are shown by topic."),
        Ask(
            "review",
            "Review (PMID)",
            STUDIES,
            "The review of this project that includes these studies. Leave it empty if the file has a column review, "
            "or if you choose a folder with one subfolder per review, named by its PMID.",
        ),
    )

    def __init__(self, about: Mapping[str, str] | None = None) -> None:
        self._about = about or {}

    def with_answers(self, about: Mapping[str, str]) -> "Format":
        answers = {key: value.strip() for key, value in about.items() if value.strip()}
        if unknown := set(answers) - {ask.key for ask in self.asks}:
            raise Refused.field(
                sorted(unknown)[0], f"The format {self.key} does not use {sorted(unknown)[0]!r}. Leave it empty."
            )
        if len(answers.get("topic", "")) > TOPIC:
            raise Refused.field("topic", f"Expected a topic of at most {TOPIC} characters.")
        return PubMed(answers)

    def level_of(self, level: str, name: str = "") -> str:
        if level != STUDIES:
            return REVIEWS
        review = self._review_of(name)
        return f"{STUDIES} of {review}"[:60] if review else STUDIES

    def _review_of(self, name: str) -> str:
        """Return the review of a file of studies: the given one, or the name of the file's folder."""
        folder = PurePath(name).parent.name
        return self._about.get("review", "") or (folder if PMID.fullmatch(folder) else "")

    def stream(self, level: str, name: str = "") -> PubMedStream:
        are_studies = level == STUDIES
        review = self._review_of(name) if are_studies else ""
        topic = "" if are_studies else self._about.get("topic", "")
        return PubMedStream(self.level_of(level, name), are_studies=are_studies, topic=topic, review=review)
