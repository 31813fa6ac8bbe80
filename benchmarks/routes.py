"""List all GET requests of the API for the benchmark of lists.

Routes come from the URLconf and filters from the schema. A new route is therefore measured, or the run fails because an
object or value for it is missing.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Ids = Mapping[str, Any]
#: Route -> reason why it is not measured.
LEFT_OUT = {
    "guides/picture/": "a file",
    "schema/": "its size is that of the code",
    "session/": "reads one row",
    "participation/": "for volunteers, of one round",
    "projects/<slug:slug>/mappings/<int:mapping_id>/": "one row",
    "units/<int:unit_id>/cards/<slug:kind>/": "one unit",
    "projects/<slug:slug>/results/<slug:table>/<slug:form>/": "the same tables as results/",
    "rounds/<int:round_id>/rating-design/": "measured by `results`",
    "rounds/<int:round_id>/ratings/": "measured by `results`",
    "rounds/<int:round_id>/ratings/examples/": "measured by `results`",
    "rounds/<int:round_id>/ratings/file/": "measured by `results`",
    "rounds/<int:round_id>/judge-figures/": "measured by `results`",
    "rounds/<int:round_id>/consent-text/": "one text",
    "rounds/<int:round_id>/gate/": "one gate",
    "rounds/<int:round_id>/as-pilot/": "the report of rounds/<int:round_id>/agreement/",
    "rounds/<int:round_id>/recruitments/": "at most ten links",
    "rounds/<int:round_id>/recruitments/<int:link_id>/people/": "its queries are counted in tests",
    "rounds/<int:round_id>/recruitments/<int:link_id>/people/file/": "a download",
    "judges/<int:judge_id>/": "one version of a judge",
    "judges/<int:judge_id>/rounds/<int:round_id>/preview/": "one page of a rating round",
    "judges/<int:judge_id>/rounds/<int:round_id>/estimate/": "the project has no judge",
    "judge-runs/<int:run_id>/": "the project has no run of a judge",
    "judge-runs/<int:run_id>/failures/": "the project has no run of a judge",
    "protocols/<int:protocol_id>/": "one document",
    "protocol-versions/<int:version_id>/": "one document",
    "protocol-versions/<int:version_id>/file/": "one document",
    "releases/<int:release_id>/": "one folder, whose files were written before",
    "units/<int:unit_id>/origin/": "one unit",
    "units/<int:unit_id>/text/": "one unit",
    "units/<int:unit_id>/origin/releases/": "reads files, of a limited size",
    "releases/<int:release_id>/row/": "reads one file",
    "releases/<int:release_id>/verify/": "reads files: measured by `exporting`",
    "releases/<int:release_id>/difference/": "reads files: measured by `exporting`",
    "releases/<int:release_id>/files/<path:path>": "a download",
    "releases/<int:release_id>/archive/": "a download",
    "splits/<int:split_id>/": "one report and one count",
    "splits/<int:split_id>/table/": "a download",
    "trainings/<int:training_id>/": "one training",
    "effect-pairs/<int:pair_id>/readings/": "one pair of a corpus of MS^2",
}
#: Routes about the current user, requested as an annotator.
OWN_WORK = {
    "my-work/",
    "rounds/<int:round_id>/next/",
    "rounds/<int:round_id>/recent/",
    "rounds/<int:round_id>/replies/",
    "rounds/<int:round_id>/questions/",
    "rounds/<int:round_id>/outcomes/",
}
#: Lists of material, one for each kind.
MATERIAL = "projects/<slug:slug>/materials/<slug:key>/"
#: Combinations of filters, in addition to each filter alone.
TOGETHER = {
    "projects/<slug:slug>/clusters/": ["state=findings&polarity=negative&role=input", "state=stale&search=relapse"],
    "projects/<slug:slug>/clusters/states/": ["polarity=negative&role=input"],
    "clusters/<int:cluster_id>/neighbours/": ["state=findings&polarity=negative"],
    "projects/<slug:slug>/findings/": ["state=waiting&rule=relation"],
    "projects/<slug:slug>/inbox/": ["state=open&what=flagged"],
}
#: Parameters that only affect the presentation.
LOOKS = {"palette", "narrow", "have", "figure", "names"}


def samples(ids: Ids) -> dict[str, list[str]]:
    """Return values of the filters that are not enumerated: frequent, rare and absent ones."""
    return {
        "search": ["relapse", "treatment 1777", "zzz"],
        "review": [ids["pmid"]],
        "round": [str(ids["rounds"][0])],
        "kind": ["label"],
        "page_size": ["200"],
        "object_type": ["unit"],
        "object_id": [str(ids["unit_id"])],
        "person": [str(ids["lead"])],
        "since": ["2020-01-01"],
        "until": ["2020-01-01"],
        "verb": ["confirm", "none"],
        "before": ["1000"],
        "unit": [str(ids["cluster_unit"])],
        "versions": [str(ids["version_id"])],
        "metric": ["length"],
        "descending": ["true"],
        "offset": ["0"],
        "limit": ["100"],
        "after": [str(ids["contested_unit"])],
        "guide": ["lead"],
        "examples": ["3"],
        "studies": ["2-5"],
        "year": ["2000-2010"],
        "doi": ["10.5281/zenodo.1"],
        "without": ["texts"],
        "unseen": ["true"],
        # Of lists of material: each kind has its own (`_kinds`). The search ignores them.
        "state": [],
        "ordering": [],
        # The spans of all texts are counted; there is no folder.
        "task": ["pio"],
        "model": ["none"],
        "evidence": [],
        # The project has no rankings to compare.
        "against": [],
    }


def get_routes() -> list[str]:
    """Return the GET routes below `/api/v1/` from the URLconf."""
    from tests.config.routes import api_routes

    return [route.pattern for route in api_routes() if "get" in route.methods]


def parameters() -> dict[str, list[dict[str, Any]]]:
    """Return path below `/api/v1/` -> query parameters, from the schema."""
    import yaml

    schema = yaml.safe_load((Path(__file__).resolve().parents[1] / "frontend" / "schema.yml").read_text())
    return {
        path.removeprefix("/api/v1/"): [p for p in methods["get"].get("parameters", []) if p["in"] == "query"]
        for path, methods in schema["paths"].items()
        if "get" in methods
    }


def requests(ids: Ids) -> Iterator[tuple[str, str, str]]:
    """Yield (route, path below `/api/v1/`, query) of every request to measure."""
    known, values = parameters(), samples(ids)
    for route in get_routes():
        if route in LEFT_OUT:
            continue
        for named, own in _kinds() if route == MATERIAL else [({}, {})]:
            for path in _paths(route, {**ids, **named}):
                for query in _queries(route, known, {**values, **own}):
                    yield route, path, query


def _kinds() -> Iterator[tuple[dict[str, str], dict[str, list[str]]]]:
    """Yield the key of each kind of material that has a list, with the values of its filters."""
    from projects.material.registry import every

    for kind in every():
        if kind.columns:
            sortable = [column.key for column in kind.columns if column.fields]
            orderings = [*sortable, *(f"-{key}" for key in sortable)]
            yield {"key": kind.key}, {"state": list(kind.states), "ordering": orderings}


def _paths(route: str, ids: Ids) -> Iterator[str]:
    unit = "contested_unit" if "adjudication" in route else "unit_id"
    given = {name: value for name, value in ids.items() if isinstance(value, int | str)} | {"unit_id": ids[unit]}
    rounds = ids["rounds"] if "<int:round_id>" in route else [0]
    if "adjudication/<int:unit_id>" in route:
        rounds = rounds[:1]
    for round in rounds:
        path = route
        for name, value in (given | {"round_id": round}).items():
            for type in ("int", "slug"):
                path = path.replace(f"<{type}:{name}>", str(value))
        if "<" in path:
            raise LookupError(f"{route}: name an object for it in inside_lists, or a reason in LEFT_OUT.")
        yield path


def _queries(route: str, known: Mapping[str, list[dict[str, Any]]], values: Mapping[str, list[str]]) -> Iterator[str]:
    path = route
    for type in ("int", "slug"):
        path = path.replace(f"<{type}:", "{")
    offered = known[path.replace(">", "}")]
    required = [p["name"] for p in offered if p.get("required")]
    always = "&".join(f"{name}={values[name][0]}" for name in required)
    yield always
    for one in offered:
        name, schema = one["name"], one["schema"]
        if name in LOOKS or name in required:
            continue
        if name == "page":
            yield "page=last"
            continue
        for value in schema.get("enum") or values[name]:
            yield "&".join(filter(None, (always, f"{name}={value}")))
    yield from TOGETHER.get(route, [])
