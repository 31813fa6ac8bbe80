"""Names of units for people, from their keys.

Keys are what files, releases and the search use. Their forms are those of M3 and of `annotation` and `evaluation`:
``27105707`` (a review), ``27105707_1`` (a cluster or target sentence), ``27105707_1/3`` (a proposition),
``27105707_1 9806290`` (a sentence and a study) and ``3-00012`` (a rating page of round 3). ``~2`` marks a new version.
"""

import re

#: Shorter numbers are rarely PMIDs: they are names that an imported file gives to its sources.
_CORPUS_KEY = re.compile(r"(\d{4,9})(?:_(\d+))?(?:/(\d+))?(?: (\d+))?(?:~\d+)?")
_NAME = re.compile(r"\bPMID (\d+)(?:, conclusion ([1-9]\d{0,5}))?", re.IGNORECASE)
_OTHER_KEYS = {
    "Rating page": re.compile(r"\d+-0*(\d+)"),
    "Matching page": re.compile(r"match-\d+-(\d+)"),
    "Rewritten text": re.compile(r"rewritten-(\d+)"),
}


def unit_name(key: str) -> str:
    """Return a name such as "PMID 27105707, conclusion 2, input 3"; an unknown form is returned as it is.

    Conclusions and inputs count from 1. The target of a cluster has the name of the cluster.
    """
    if match := _CORPUS_KEY.fullmatch(key):
        review, cluster, position, study = match.groups()
        parts = [f"PMID {review}"]
        if cluster is not None:
            parts.append(f"conclusion {int(cluster) + 1}")
        if position and int(position):
            parts.append(f"input {position}")
        if study is not None:
            parts.append(f"study {study}")
        return ", ".join(parts)
    for name, form in _OTHER_KEYS.items():
        if match := form.fullmatch(key):
            return f"{name} {match[1]}"
    return key


def with_keys(text: str) -> str:
    """Replace the names of reviews, clusters and target sentences in a text by their keys."""
    return _NAME.sub(lambda match: f"{match[1]}_{int(match[2]) - 1}" if match[2] else match[1], text)
