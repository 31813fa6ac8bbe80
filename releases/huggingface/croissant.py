"""croissant.json: the release in Croissant 1.1, with fields of the responsible-AI vocabulary, as plain JSON-LD.

Record sets point at Parquet files only, because readers of JSON lines turn a key such as 26258610_0 into a number.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Count, Max, Min

from projects.models import Import, ImportState, Project

from ..citation.facts import NOT_PROVIDED, Facts
from ..folders.dictionary.table import BOOL, FLOAT, INT, JSON, TEXT, WHOLE, Type
from ..folders.manifest import Entry
from ..models import Creator
from .configs import Config
from .front_matter import TAGS, language

PATH = "croissant.json"
Json = dict[str, Any]
#: The context of the specification, version 1.1.
CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
FORMATS = {"parquet": "application/x-parquet", "jsonl": "application/jsonlines", "csv": "text/csv"}
TYPES = {TEXT: "sc:Text", JSON: "sc:Text", INT: "sc:Integer", FLOAT: "sc:Float", BOOL: "sc:Boolean"}
#: What the data do not contain.
NOT_IN_THE_DATA = ("annotatorDemographics", "dataBiases", "dataLimitations", "dataSocialImpact", "dataUseCases")


def croissant(
    project: Project, facts: Facts, version: str, newest: str, configs: Sequence[Config], entries: Sequence[Entry]
) -> bytes:
    """Return the content of croissant.json. ``entries`` are the files of rows, in every format."""
    by_path = {entry.path: entry for entry in entries}
    makers = [_maker(creator) for creator in facts.creators]
    body: Json = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS_TO),
        "name": facts.title,
        "description": facts.description or NOT_PROVIDED,
        "version": version,
        "datePublished": newest[:10],
        "license": facts.licence_address or facts.licence or NOT_PROVIDED,
        "creator": makers or [{"@type": "sc:Organization", "name": f"The authors of {facts.title}"}],
        **(
            {"funder": [{"@type": "sc:Organization", "name": one.name} for one in facts.funders]}
            if facts.funders
            else {}
        ),
        "keywords": list(dict.fromkeys([*TAGS, *facts.keywords])),
        "inLanguage": language(facts),
        "isLiveDataset": False,
        **({"citeAs": project.citation} if project.citation else {}),
        **{f"rai:{name}": value for name, value in _responsible(project)},
        "distribution": [_file(entry) for _, entry in sorted(by_path.items())],
        "recordSet": [_record_set(config, split, entry) for config in configs for split, entry in config.in_order],
    }
    return json.dumps(body, ensure_ascii=False, indent=2).encode() + b"\n"


def _maker(creator: Creator) -> Json:
    if creator.organisation:
        ror = {"sameAs": f"https://ror.org/{creator.ror}"} if creator.ror else {}
        return {"@type": "sc:Organization", "name": creator.organisation, **ror}
    return {
        "@type": "sc:Person",
        "name": creator.name,
        "familyName": creator.family,
        **({"givenName": creator.given} if creator.given else {}),
        **({"sameAs": f"https://orcid.org/{creator.orcid}"} if creator.orcid else {}),
        **({"affiliation": {"@type": "sc:Organization", "name": creator.affiliation}} if creator.affiliation else {}),
    }


def _file(entry: Entry) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": entry.path,
        "name": entry.path,
        "contentUrl": entry.path,
        "contentSize": f"{entry.size} B",
        "encodingFormat": FORMATS[entry.path.rpartition(".")[2]],
        "sha256": entry.sha256,
    }


def _record_set(config: Config, split: str, entry: Entry) -> Json:
    name = config.name if split == WHOLE else f"{config.name}/{split}"
    ids = {column: f"{name}/{_id(column, number)}" for number, column in enumerate(config.columns, start=1)}
    keys = [ids[column] for column in config.table.key if column in ids]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"One record per {config.table.row}: the rows of {' and '.join(config.sources)}"
        + ("." if split == WHOLE else f", part {split}."),
        **({"key": [{"@id": key} for key in keys]} if len(keys) == len(config.table.key) else {}),
        "field": [
            _field(ids[column], column, type, entry.path, config.meaning(column))
            for column, type in config.columns.items()
        ],
    }


def _id(column: str, number: int) -> str:
    """Return the id of a field. Columns of imported tables can have names that no id can have."""
    return column if re.fullmatch(r"[\w.]+", column, re.ASCII) else f"column-{number}"


def _field(id: str, column: str, type: Type, file: str, meaning: str) -> Json:
    source: Json = {"fileObject": {"@id": file}, "extract": {"column": column}}
    field: Json = {"@type": "cr:Field", "@id": id, "name": id, "description": meaning}
    item = type[0] if isinstance(type, list) else type
    if isinstance(type, list):
        field |= {"isArray": True, "arrayShape": "-1"}
    if isinstance(item, dict):
        return field | {
            "subField": [
                {
                    "@type": "cr:Field",
                    "@id": f"{id}/{name}",
                    "name": f"{id}/{name}",
                    "dataType": TYPES[of],
                    "source": source | {"transform": {"jsonPath": name}},
                }
                for name, of in item.items()
            ]
        }
    return field | {"dataType": TYPES[item], "source": source}


def _responsible(project: Project) -> Iterator[tuple[str, Any]]:
    """Yield fields of the responsible-AI vocabulary. What the data do not contain is marked."""
    files = Import.objects.filter(project=project, state=ImportState.ARRIVED)
    by_format = files.order_by("format").values_list("format").annotate(n=Count("pk"))
    listed = ", ".join(f"{format} ({n})" for format, n in by_format)
    yield (
        "dataCollection",
        f"Imported files by format: {listed}. `provenance/sources.csv` lists them with their SHA-256, "
        "`provenance/typed.csv` the units that were entered by hand."
        if listed
        else "Entered by hand, as `provenance/typed.csv` lists.",
    )
    if listed:
        times = files.aggregate(first=Min("created_at"), last=Max("created_at"))
        yield "dataCollectionTimeFrame", [f"{times[name]:%Y-%m-%d}" for name in ("first", "last")]
    yield "dataPreprocessingProtocol", "None: texts are released exactly as stored. Offsets count Unicode code points."
    yield "dataAnnotationPlatform", "Concord"
    rounds = list(project.rounds.opened().counting().select_related("guideline").order_by("pk"))
    yield (
        "dataAnnotationProtocol",
        [
            f"Round {round.name}: task {round.kind}, purpose {round.purpose}, {round.units_count} units, guideline "
            f"`provenance/guidelines/{round.kind}-{round.guideline.number}.md`."
            for round in rounds
        ]
        or NOT_PROVIDED,
    )
    yield "annotationsPerItem", "; ".join(f"{round.name}: {round.overlap}" for round in rounds) or NOT_PROVIDED
    yield (
        "dataAnnotationAnalysis",
        "Agreement of every closed round, with intervals and n, in `agreement/reports.jsonl`."
        if any(round.status == round.Status.CLOSED for round in rounds)
        else NOT_PROVIDED,
    )
    comments = "published" if project.publish_comments else "omitted"
    yield "personalSensitiveInformation", f"Annotators have pseudonyms. Their comments are {comments}."
    yield (
        "dataReleaseMaintenancePlan",
        "A release never changes. Corrections go into the next version, whose differences can be listed by row.",
    )
    for name in NOT_IN_THE_DATA:
        yield name, NOT_PROVIDED
