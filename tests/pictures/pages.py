"""The pages and states of which pictures are taken."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

PROJECT = "/projects/eye"
SAMPLE = "/projects/sample"


@dataclass(frozen=True)
class Shot:
    """A page in one state. ``{name}`` in the path is found by the API (`FOUND`)."""

    name: str
    path: str
    who: str = "lead"
    #: Brings the page into its state.
    prepare: Callable[[Page], Any] | None = None

    def address(self, page: Page, site: str) -> str:
        path = self.path
        for name, find in FOUND.items():
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", str(find(page, f"{site}/api/v1")))
        return path


def _rounds(slug: str, **wanted: str) -> Callable[[Page, str], Any]:
    def find(page: Page, api: str) -> Any:
        rows = page.request.get(f"{api}/projects/{slug}/rounds/?page_size=100").json()["results"]
        return next(r["id"] for r in rows if all(r[name] == value for name, value in wanted.items()))

    return find


def _first(path: str, *keys: str | int) -> Callable[[Page, str], Any]:
    def find(page: Page, api: str) -> Any:
        found: Any = page.request.get(f"{api}/{path}").json()["results"][0]
        for key in keys:
            found = found[key]
        return found

    return find


FOUND: dict[str, Callable[[Page, str], Any]] = {
    "open": _rounds("eye", name="Polarity and modality, second half"),
    "ready": _rounds("eye", name="Directions of targets"),
    "final": _rounds("eye", name="Polarity and modality, final"),
    "rated": _rounds("sample", kind="rate", status="closed"),
    "mine": lambda page, api: page.request.get(f"{api}/my-work/").json()[0]["id"],
    "cluster": _first("projects/eye/clusters/", "id"),
    "review": _first("projects/eye/clusters/", "review", "id"),
    "system": _first("projects/sample/systems/", "id"),
    "run": _first("projects/sample/systems/", "versions", 0, "run", "id"),
    "release": _first("projects/eye/releases/", "id"),
}


def _palette(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("visual acuity", delay=20)
    page.wait_for_timeout(800)


PAGES = (
    Shot("my-work", "/", "ann1"),
    Shot("my-work-lead", "/"),
    Shot("work", "/work/{mine}", "ann1"),
    Shot("profile", "/profile"),
    Shot("projects", "/projects"),
    Shot("overview", PROJECT),
    Shot("overview-annotator", PROJECT, "ann1"),
    Shot("overview-sample", SAMPLE),
    Shot("settings", f"{PROJECT}/settings"),
    Shot("people", f"{PROJECT}/people"),
    Shot("corpus", f"{PROJECT}/corpus"),
    Shot("corpus-no-match", f"{PROJECT}/corpus?search=xyzzy"),
    Shot("cluster", f"{PROJECT}/corpus/{{cluster}}"),
    Shot("curate", f"{PROJECT}/reviews/{{review}}/curate"),
    Shot("import", f"{PROJECT}/import"),
    Shot("pubmed", f"{PROJECT}/pubmed"),
    Shot("sentence-ranking", f"{PROJECT}/ranking"),
    Shot("needs-review", f"{PROJECT}/needs-review"),
    Shot("needs-review-labels", f"{PROJECT}/needs-review?tab=labels"),
    Shot("needs-review-guideline", f"{PROJECT}/needs-review?tab=guideline"),
    Shot("rounds", f"{PROJECT}/rounds"),
    Shot("rounds-refused", f"{PROJECT}/rounds", "ann1"),
    Shot("new-round", f"{PROJECT}/rounds/new"),
    Shot("round-open", f"{PROJECT}/rounds/{{open}}"),
    Shot("round-ready", f"{PROJECT}/rounds/{{ready}}"),
    Shot("round-closed", f"{PROJECT}/rounds/{{final}}"),
    Shot("round-missing", f"{PROJECT}/rounds/99999"),
    Shot("adjudicate", f"{PROJECT}/rounds/{{final}}/adjudicate"),
    Shot("agreement", f"{PROJECT}/rounds/{{final}}/agreement"),
    Shot("guidelines", f"{PROJECT}/guidelines"),
    Shot("inbox", f"{PROJECT}/inbox"),
    Shot("systems", f"{SAMPLE}/systems"),
    Shot("systems-empty", f"{PROJECT}/systems"),
    Shot("system", f"{SAMPLE}/systems/{{system}}"),
    Shot("new-version", f"{SAMPLE}/systems/new"),
    Shot("run", f"{SAMPLE}/systems/runs/{{run}}"),
    Shot("outputs", f"{SAMPLE}/systems/outputs"),
    Shot("protocols", f"{PROJECT}/protocols"),
    Shot("new-protocol", f"{PROJECT}/protocols/new?from=m3-table-5"),
    Shot("results", f"{SAMPLE}/results"),
    Shot("results-empty", f"{PROJECT}/results"),
    Shot("releases", f"{PROJECT}/releases"),
    Shot("releases-empty", f"{SAMPLE}/releases"),
    Shot("release", f"{PROJECT}/releases/{{release}}"),
    Shot("release-missing", f"{PROJECT}/releases/99999"),
    Shot("guide", "/guide/lead"),
    Shot("not-found", f"{PROJECT}/no-such-page"),
    Shot("palette", PROJECT, prepare=_palette),
    Shot("sign-in", "/sign-in", ""),
)
