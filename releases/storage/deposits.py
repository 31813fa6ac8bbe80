"""A release as a flat bundle for archives whose records have no folders, such as Zenodo and OSF."""

import csv
import hashlib
import html
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from api.problems import Refused

from ..folders.manifest import NAME
from ..models import Release
from . import downloads
from .registry import check_empty, move_into_place

#: Metadata for the upload; checksums and original paths of the flat files.
METADATA, CHECKSUMS, PATHS = "zenodo.json", "CHECKSUMS.sha256", "PATHS.csv"
#: Replaces the slash of a path.
SEPARATOR = "--"
#: Zenodo's limit on the files of a record.
MOST_FILES = 100
#: Zenodo's codes of languages (ISO 639-3), by the first part of a BCP 47 tag.
LANGUAGES = {"en": "eng", "de": "deu", "es": "spa", "fr": "fra", "pt": "por", "zh": "zho", "ja": "jpn", "ar": "ara"}
Json = dict[str, Any]


def write_deposit(release: Release, out: Path) -> list[str]:
    """Write the bundle into a new or empty folder and return the names of its files.

    Files are verified while they are copied, into a temporary folder that is renamed at the end. After an interruption
    there is no bundle, and the command can run again. Raise `Refused` if the release has no datacite.json, because it
    was created by an earlier version, and if two paths would get one name.
    """
    check_empty(out)
    paths = [NAME, *(entry["path"] for entry in release.manifest["files"])]
    if "datacite.json" not in paths:
        raise Refused("This release has no datacite.json. Create a new version, then deposit that.")
    names = {path: path.replace("/", SEPARATOR) for path in paths}
    if len({name.casefold() for name in (*names.values(), METADATA, CHECKSUMS, PATHS)}) != len(names) + 3:
        raise Refused("Two files of this release would get the same name without folders.")
    building = out.parent / f".{out.name}.incomplete"
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    try:
        written = _write_bundle(release, building, names)
        move_into_place(building, out)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return written


def _write_bundle(release: Release, out: Path, names: dict[str, str]) -> list[str]:
    sums = {}
    for path, name in sorted(names.items()):
        _, pieces = downloads.file(release, path)
        sums[name] = _write(out / name, pieces)
    content = json.loads((out / "datacite.json").read_bytes())
    sums[METADATA] = _write(
        out / METADATA, [json.dumps(zenodo(content), ensure_ascii=False, indent=2).encode() + b"\n"]
    )
    sums[PATHS] = _write(out / PATHS, _paths(names))
    _write(out / CHECKSUMS, [f"{digest}  {name}\n".encode() for name, digest in sorted(sums.items())])
    return [*sums, CHECKSUMS]


def _write(target: Path, pieces: Any) -> str:
    digest = hashlib.sha256()
    with target.open("xb") as file:
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
    return digest.hexdigest()


def _paths(names: dict[str, str]) -> Iterator[bytes]:
    """Yield the table of flat names and original paths, from which the release can be restored."""
    for cells in (("name", "path"), *((name, path) for path, name in sorted(names.items()))):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(cells)
        yield line.getvalue().encode()


def zenodo(datacite: Json) -> Json:
    """Return the metadata of a deposit in the form of Zenodo's API, from the datacite.json of a release."""
    language = datacite.get("language", "").partition("-")[0]
    rights = _first(datacite.get("rightsList", []))
    description = _first(datacite.get("descriptions", [])).get("description", "")
    metadata = {
        "upload_type": "dataset",
        "title": datacite["titles"][0]["title"],
        "version": datacite["version"],
        "doi": datacite.get("doi", ""),
        "publication_date": datacite["dates"][0]["date"],
        # Zenodo requires a description, in HTML.
        "description": f"<p>{html.escape(description or datacite['titles'][0]['title'])}</p>",
        "creators": [_creator(creator) for creator in datacite["creators"]],
        "keywords": [subject["subject"] for subject in datacite.get("subjects", [])],
        "language": LANGUAGES.get(language, ""),
        "license": rights.get("rightsIdentifier", ""),
        "access_right": "open",
        "related_identifiers": [
            {
                "identifier": row["relatedIdentifier"],
                "relation": row["relationType"][0].lower() + row["relationType"][1:],
                "scheme": row["relatedIdentifierType"].lower(),
            }
            for row in datacite.get("relatedIdentifiers", [])
        ],
        "notes": "; ".join(
            " ".join(filter(None, ("Funded by", row["funderName"], row.get("awardNumber", ""))))
            for row in datacite.get("fundingReferences", [])
        ),
    }
    return {"metadata": {name: value for name, value in metadata.items() if value}}


def _first(rows: list[Json]) -> Json:
    return rows[0] if rows else {}


def _creator(creator: Json) -> Json:
    orcid = next((i["nameIdentifier"] for i in creator.get("nameIdentifiers", []) if _is_orcid(i)), "")
    affiliation = _first(creator.get("affiliation", [])).get("name", "")
    row = {"name": creator["name"], "affiliation": affiliation, "orcid": orcid.rpartition("/")[2]}
    return {name: value for name, value in row.items() if value}


def _is_orcid(identifier: Json) -> bool:
    return bool(identifier["nameIdentifierScheme"] == "ORCID")
