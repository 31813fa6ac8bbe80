"""What a lead states about one release of a data set: version and DOI."""

import re
from dataclasses import dataclass

#: Names of archives by the form of the DOIs that they reserve.
ARCHIVES = (
    (re.compile(r"10\.\d{4,9}/zenodo\.", re.IGNORECASE), "Zenodo"),
    (re.compile(r"10\.17605/OSF", re.IGNORECASE), "OSF"),
)


@dataclass(frozen=True)
class Edition:
    """One release, as its citation states it."""

    version: str
    #: Time of the newest change to the data, in UTC.
    newest: str
    #: DOI that an archive reserved for this version; empty for a release without a deposit.
    doi: str = ""

    @property
    def date(self) -> str:
        """Date of the newest change, YYYY-MM-DD."""
        return self.newest[:10]

    @property
    def year(self) -> str:
        return self.newest[:4]

    @property
    def address(self) -> str:
        return f"https://doi.org/{self.doi}" if self.doi else ""

    @property
    def archive(self) -> str:
        """Name of the archive that reserved the DOI; empty if unknown."""
        return next((name for form, name in ARCHIVES if form.match(self.doi)), "")
