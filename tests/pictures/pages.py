"""The pages and states of which pictures are taken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from playwright.sync_api import Page, Route

from operations.sample_project import SAMPLE as SAMPLE_FILE

from .tasks import SCRIPTS, SENTENCES

PROJECT = "/projects/eye"
SAMPLE = "/projects/sample"
EMPTY = "/projects/empty"
Act = Callable[[Page], Any]


@dataclass(frozen=True)
class Shot:
    """A page in one state. ``{name}`` in the path is found by the API (`FOUND`)."""

    name: str
    path: str
    who: str = "lead"
    #: Brings the page into its state.
    prepare: Act | None = None
    #: Requests whose address matches a key get the function's reply.
    routes: Mapping[str, Callable[[Route], Any]] = field(default_factory=dict)
    #: In a browser of its own, because the state ends the session.
    alone: bool = False

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


def _first(path: str, *keys: str | int, **wanted: str) -> Callable[[Page, str], Any]:
    def find(page: Page, api: str) -> Any:
        rows = page.request.get(f"{api}/{path}").json()["results"]
        found: Any = next(r for r in rows if all(r[name] == value for name, value in wanted.items()))
        for key in keys:
            found = found[key]
        return found

    return find


def _task(slug: str, name: str = "", kind: str = "") -> Callable[[Page, str], Any]:
    """Return the person's open round of a project, by name or kind."""

    def find(page: Page, api: str) -> Any:
        rows = page.request.get(f"{api}/my-work/").json()
        return next(
            r["id"]
            for r in rows
            if r["project"] == slug and name in r["name"] and kind in ("", r["kind"]) and r["status"] == "open"
        )

    return find


def _run(name: str) -> Callable[[Page, str], Any]:
    return _first("projects/sample/systems/?page_size=50", "versions", 0, "run", "id", name=name)


def _training(name: str) -> Callable[[Page, str], Any]:
    return _first("projects/sample/trainings/", "id", name=name)


FOUND: dict[str, Callable[[Page, str], Any]] = {
    "open": _rounds("eye", name="Polarity and modality, second half"),
    "ready": _rounds("eye", name="Directions of targets"),
    "final": _rounds("eye", name="Polarity and modality, final"),
    "practice": _rounds("eye", name="Practice for new people"),
    "rated": _rounds("eye", name="Ratings, pilot"),
    "contested": _rounds("eye", name="Ratings, contested"),
    "compared": _rounds("eye", name="Preferences"),
    "mine": lambda page, api: page.request.get(f"{api}/my-work/").json()[0]["id"],
    "cluster": _first("projects/eye/clusters/?page=3", "id"),
    "stale": _first("projects/eye/clusters/", "id"),
    "review": _first("projects/eye/clusters/", "review", "id"),
    "ms2_review": _first("projects/ms2/materials/reviews/", "page"),
    "ms2_study": _first("projects/ms2/materials/studies/", "page"),
    "system": _first("projects/sample/systems/", "id"),
    "run": _run("TextRank"),
    "run_waiting": _run("Waiting"),
    "run_stalled": _run("Stalled"),
    "run_failed": _run("Failed"),
    "training": _training("BART on main"),
    "training_running": _training("BART on main, running"),
    "training_failed": _training("BART on main, no space"),
    "imported": _first("projects/eye/imports/", "id"),
    "protocol": _first("projects/sample/protocols/", "id"),
    "release": _first("projects/eye/releases/", "id"),
    **{f"task_{slug}": _task(slug) for slug in SCRIPTS},
    "task_label": _task("eye", "Corrections"),
    "task_classes": _task("sentences", SENTENCES["sentence_classes"]),
    "task_sentences": _task("sentences", SENTENCES["evidence_sentences"]),
    "task_rate": _task("sample", kind="rate"),
    "task_compare": _task("eye", kind="compare"),
}


def _type(words: str) -> Act:
    def act(page: Page) -> None:
        page.keyboard.press("Control+k")
        page.keyboard.type(words, delay=20)
        page.wait_for_timeout(800)

    return act


def _press(key: str) -> Act:
    def act(page: Page) -> None:
        page.wait_for_timeout(600)
        page.keyboard.press(key)
        page.wait_for_timeout(600)

    return act


def _keys(keys: str) -> Act:
    def act(page: Page) -> None:
        page.wait_for_timeout(600)
        for key in keys.split():
            page.keyboard.press(key)
        page.wait_for_timeout(600)

    return act


def _click(name: str, role: Any = "button") -> Act:
    def act(page: Page) -> None:
        page.get_by_role(role, name=name).first.click()
        page.wait_for_timeout(600)

    return act


def _changed(**fields: Any) -> Callable[[Route], Any]:
    """Reply with the server's JSON, with other fields in ``progress`` or in the object."""

    def reply(route: Route) -> None:
        found = route.fetch().json()
        found.get("progress", found).update(fields)
        route.fulfill(json=found)

    return reply


def _rate_summaries(page: Page) -> None:
    """Choose the task: a radio button, or an option of the select on a phone."""
    task = page.get_by_role("combobox", name="Task").first
    if task.is_visible():
        task.select_option(label="Rate summaries")
    else:
        page.get_by_role("radio", name="Rate summaries").first.check()
    page.wait_for_timeout(600)


def _keep_all(page: Page) -> None:
    page.get_by_label("Select all").check()
    page.get_by_label("Why are they correct?").fill("The sentences are about different outcomes.")


def _check_file(page: Page) -> None:
    page.locator("#file").set_input_files(SAMPLE_FILE)
    page.get_by_role("button", name="Check file").click()
    page.wait_for_timeout(1500)


#: A table with faults: a rating out of range, a second summary, and a passage that occurs twice.
ANSWERS = "case id\tquestion\tdoc\ttext\trating\tsummary\tlab note\n" + "".join(
    f"{n}\tIs finding {n} rare, and what can I do about it?\t{n}_A{k % 3}\tFinding {n}: It is rare. Passage {k} of "
    f"four says what people with finding {n} can do.\t{6 if (n, k) == (2, 1) else 3}\t"
    f"Finding {n} is rare{'!' * (k == 3)}\t\n"
    for n in range(1, 6)
    for k in range(4 if n == 3 else 3)
)


def _map_columns(content: str) -> Callable[[Page], None]:
    """Open the mapping step with a table."""

    def prepare(page: Page) -> None:
        if page.get_by_role("button", name="All formats").count():
            page.get_by_role("button", name="All formats").click()
        page.get_by_label("Format").first.select_option("csv")
        file = {"name": "lab-2025.tsv", "mimeType": "text/csv", "buffer": content.encode()}
        page.locator("#file").set_input_files(file)  # type: ignore[arg-type]
        page.get_by_role("button", name="Check file").click()
        page.get_by_role("heading", name="Columns of").wait_for()
        page.get_by_role("heading", name="Faults").wait_for()
        page.wait_for_timeout(300)
        if page.get_by_role("button", name="Rows with faults").is_enabled():
            page.get_by_role("button", name="Rows with faults").click()

    return prepare


def _participate(page: Page) -> None:
    """Create a participant link as the lead, and open it without the lead's session."""
    home = "/".join(page.url.split("/")[:3])
    page.goto(f"{home}{PROJECT}/rounds/{FOUND['open'](page, f'{home}/api/v1')}")
    page.locator("summary", has_text="Create links").click()
    label = f"Volunteer {token_hex(4)}"  # other pictures have made links too
    page.get_by_label("Labels, one per line").fill(label)
    page.get_by_role("button", name="Create 1 link").click()
    link = page.get_by_label(f"Link of {label}").input_value()
    page.context.clear_cookies()
    page.goto(link)
    page.wait_for_load_state("networkidle")


def _volunteer(page: Page) -> None:
    _participate(page)
    page.get_by_role("button", name="Agree and start").click()
    page.wait_for_url("**/work/*")
    page.wait_for_timeout(1000)


def _withdraw(page: Page) -> None:
    _volunteer(page)
    page.get_by_role("link", name="My work").first.click()
    _click("Withdraw")(page)


RUNNING = {
    "state": "running",
    "done": 129,
    "waiting": 252,
    "total": 381,
    "failed": 0,
    "pace": 42.0,
    "seconds_left": 360.0,
    "error": "",
    "command": "",
    "items_cut": 0,
    "note": "Summarises batch 9 on gpu-1.",
}
TRAINS = {
    "status": "running",
    "done": 900,
    "total": 1500,
    "note": "10,235 tokens/s",
    "rate": 110.0,
    "seconds_left": 330.0,
    "stalled": False,
    "command": "",
}
DOWN = {"**/api/v1/projects/eye/rounds/**": lambda route: route.abort()}
IMPORTS = "**/api/v1/projects/*/imports/"

FAULT = {"file": "sample.jsonl", "line": 3, "field": "target_modality", "message": "“Moderate?” is no modality."}
REPORT = {
    "file": "sample.jsonl",
    "others": [],
    "sha256": "264312b314b9e436219bb4883fa055c757347a571e5981d028123ed0fc19315e",
    "size": 1_204_311,
    "format": "m3",
    "level": "3",
    "known": None,
    "faults": {"total": 0, "listed": []},
    "counts": {"items": 381, "new": 12, "unchanged": 369, "targets": 381, "inputs": 1911, "reviews": 229},
    "values": {"discourse_relation": {"contradiction": 196, "agreement": 185}},
    "totals": {"cue differs in case": 1, "cue absent": 38},
    "notices": [
        {
            "kind": "cue differs in case",
            "message": 'The text has "Both".',
            "item": "26286384_0",
            "item_name": "PMID 26286384, conclusion 1",
            "place": "input 4",
            "field": "source direction span",
            "text": "both",
        }
    ],
}


def _checked(**found: Any) -> Mapping[str, Callable[[Route], Any]]:
    """Show the check of a file as done, with this result."""

    def reply(route: Route) -> None:
        route.fulfill(json=route.fetch().json() | {"status": "done", "result": REPORT | found})

    return {"**/api/v1/jobs/*/": reply}


#: The check of a table that is only stored, because its columns have no roles yet.
MAPPED = _checked(needs_columns=True, format="csv")


def _arriving(phase: str, stopped: str) -> Callable[[Route], Any]:
    """Show the newest import as arriving."""

    def reply(route: Route) -> None:
        body = route.fetch().json()
        newest = body["results"][0]
        newest |= {"state": "arriving", "phase": phase, "stopped": stopped, "rows": 61_700}
        newest |= {"bytes_done": newest["size"] * 62 // 100, "rate": 11_800.0, "seconds_left": 75.0}
        route.fulfill(json=body)

    return reply


PAGES = (
    Shot("my-work", "/", "ann1"),
    Shot("my-work-lead", "/"),
    Shot("my-work-curator", "/", "curator"),
    Shot("profile", "/profile"),
    Shot("projects", "/projects"),
    Shot("overview", PROJECT),
    Shot("overview-annotator", PROJECT, "ann1"),
    Shot("overview-curator", PROJECT, "curator"),
    Shot("overview-evaluator", PROJECT, "evaluator"),
    Shot("overview-sample", SAMPLE),
    Shot("overview-missing", "/projects/nowhere"),
    Shot("settings", f"{PROJECT}/settings"),
    Shot("people", f"{PROJECT}/people"),
    Shot("people-invite", f"{PROJECT}/people", prepare=_click("Invite people")),
    Shot("corpus", f"{PROJECT}/corpus"),
    Shot("corpus-reviews", f"{PROJECT}/corpus?kind=reviews"),
    Shot("corpus-no-match", f"{PROJECT}/corpus?search=xyzzy"),
    Shot("cluster", f"{PROJECT}/corpus/{{cluster}}"),
    Shot("cluster-stale", f"{PROJECT}/corpus/{{stale}}"),
    Shot("cluster-missing", f"{PROJECT}/corpus/999999"),
    Shot("ms2-corpus", "/projects/ms2/corpus"),
    Shot("ms2-review", "/projects/ms2/{ms2_review}"),
    Shot("ms2-study", "/projects/ms2/{ms2_study}"),
    Shot("curate", f"{PROJECT}/reviews/{{review}}/curate"),
    Shot("import", f"{PROJECT}/import"),
    Shot("import-running", f"{PROJECT}/import", routes={IMPORTS: _arriving("reading", "")}),
    Shot("import-stopped", f"{PROJECT}/import", routes={IMPORTS: _arriving("finishing", "The worker died 3 times.")}),
    Shot("import-checking", f"{SAMPLE}/import", prepare=_check_file),
    Shot("import-report", f"{SAMPLE}/import", prepare=_check_file, routes=_checked()),
    Shot(
        "import-faults",
        f"{SAMPLE}/import",
        prepare=_check_file,
        routes=_checked(faults={"total": 40, "listed": [FAULT | {"line": n} for n in (3, 17, 212)]}),
    ),
    Shot("import-columns", f"{SAMPLE}/import", prepare=_map_columns("\n".join(ANSWERS.split("\n")[:6])), routes=MAPPED),
    Shot("import-columns-faults", f"{SAMPLE}/import", prepare=_map_columns(ANSWERS), routes=MAPPED),
    Shot("imported", f"{PROJECT}/import/{{imported}}"),
    Shot("pubmed", f"{PROJECT}/pubmed"),
    Shot("sentence-ranking", f"{PROJECT}/ranking"),
    Shot("machine-readings", f"{PROJECT}/readings"),
    Shot("needs-review", f"{PROJECT}/needs-review"),
    Shot("needs-review-labels", f"{PROJECT}/needs-review?tab=labels"),
    Shot("needs-review-labels-keep", f"{PROJECT}/needs-review?tab=labels", prepare=_press("d")),
    Shot("needs-review-labels-keep-all", f"{PROJECT}/needs-review?tab=labels", prepare=_keep_all),
    Shot("needs-review-guideline", f"{PROJECT}/needs-review?tab=guideline"),
    Shot("needs-review-guideline-empty", f"{EMPTY}/needs-review?tab=guideline"),
    Shot("rounds", f"{PROJECT}/rounds"),
    Shot("rounds-sorted", f"{PROJECT}/rounds", prepare=_click("Progress")),
    Shot("rounds-down", f"{PROJECT}/rounds", routes=DOWN),
    Shot("new-round", f"{PROJECT}/rounds/new"),
    Shot("new-round-rating", f"{PROJECT}/rounds/new", prepare=_rate_summaries),
    Shot("round-open", f"{PROJECT}/rounds/{{open}}"),
    Shot("round-ready", f"{PROJECT}/rounds/{{ready}}"),
    Shot("round-close", f"{PROJECT}/rounds/{{open}}", prepare=_click("Close round")),
    Shot("round-closed", f"{PROJECT}/rounds/{{final}}"),
    Shot("round-practice", f"{PROJECT}/rounds/{{practice}}"),
    Shot("round-rated", f"{PROJECT}/rounds/{{rated}}"),
    Shot("round-contested", f"{PROJECT}/rounds/{{contested}}"),
    Shot("round-compared", f"{PROJECT}/rounds/{{compared}}"),
    Shot("round-missing", f"{PROJECT}/rounds/99999"),
    Shot("adjudicate", f"{PROJECT}/rounds/{{final}}/adjudicate"),
    Shot("adjudicate-ratings", f"{PROJECT}/rounds/{{contested}}/adjudicate"),
    Shot("adjudicate-missing", f"{PROJECT}/rounds/99999/adjudicate"),
    Shot("adjudicate-done", f"{PROJECT}/rounds/{{rated}}/adjudicate"),
    Shot("agreement", f"{PROJECT}/rounds/{{final}}/agreement"),
    Shot("agreement-ratings", f"{PROJECT}/rounds/{{rated}}/agreement"),
    Shot("agreement-none", f"{PROJECT}/rounds/{{compared}}/agreement"),
    Shot("guidelines", f"{PROJECT}/guidelines"),
    Shot("inbox", f"{PROJECT}/inbox"),
    Shot("inbox-reply", f"{PROJECT}/inbox", prepare=_click("Reply")),
    Shot("inbox-selected", f"{PROJECT}/inbox", prepare=lambda page: page.get_by_label("Select all").check()),
    Shot("systems", f"{SAMPLE}/systems"),
    Shot("system", f"{SAMPLE}/systems/{{system}}"),
    Shot("system-missing", f"{SAMPLE}/systems/99999"),
    Shot("new-version", f"{SAMPLE}/systems/new"),
    Shot("run", f"{SAMPLE}/systems/runs/{{run}}"),
    Shot("run-waiting", f"{SAMPLE}/systems/runs/{{run_waiting}}"),
    Shot("run-running", f"{SAMPLE}/systems/runs/{{run_waiting}}", routes={"**/api/v1/runs/*/": _changed(**RUNNING)}),
    Shot("run-stalled", f"{SAMPLE}/systems/runs/{{run_stalled}}"),
    Shot("run-failed", f"{SAMPLE}/systems/runs/{{run_failed}}"),
    Shot("run-missing", f"{SAMPLE}/systems/runs/99999"),
    Shot("outputs", f"{SAMPLE}/systems/outputs"),
    Shot("protocols", f"{PROJECT}/protocols"),
    Shot("protocol", f"{SAMPLE}/protocols/{{protocol}}"),
    Shot("new-protocol", f"{PROJECT}/protocols/new?from=m3-table-5"),
    Shot("results", f"{PROJECT}/results"),
    Shot("results-metrics", f"{PROJECT}/results?view=m3-4"),
    Shot("results-marked", f"{SAMPLE}/results?view=m3-4"),
    Shot("results-unseen", f"{SAMPLE}/results?view=m3-4&unseen=true"),
    Shot("results-summaries", f"{PROJECT}/results?view=m3-4&by=rouge"),
    Shot("results-sample", f"{SAMPLE}/results"),
    Shot("releases", f"{PROJECT}/releases"),
    Shot("splits", f"{PROJECT}/splits"),
    Shot("trainings", f"{SAMPLE}/trainings"),
    Shot("training", f"{SAMPLE}/trainings/{{training}}"),
    Shot(
        "training-running", f"{SAMPLE}/trainings/{{training_running}}", routes={"**/api/v1/jobs/*/": _changed(**TRAINS)}
    ),
    Shot("training-failed", f"{SAMPLE}/trainings/{{training_failed}}"),
    Shot("new-training", f"{PROJECT}/trainings/new"),
    Shot("judges", f"{PROJECT}/judges"),
    Shot("new-judge", f"{PROJECT}/judges/new"),
    Shot("suggestions", f"{PROJECT}/suggestions"),
    Shot("methods", f"{PROJECT}/methods"),
    Shot("releases-freeze", f"{EMPTY}/releases", prepare=_click("Freeze 1.0.0")),
    Shot("release", f"{PROJECT}/releases/{{release}}"),
    Shot("release-missing", f"{PROJECT}/releases/99999"),
    Shot("guide", "/guide/lead"),
    Shot("not-found", f"{PROJECT}/no-such-page"),
    Shot("palette", PROJECT, prepare=_type("visual acuity")),
    # Empty pages.
    Shot("overview-empty", EMPTY),
    *(
        Shot(f"{name}-empty", f"{EMPTY}/{name}")
        for name in (
            "people",
            "trainings",
            "corpus",
            "import",
            "ranking",
            "needs-review",
            "rounds",
            "guidelines",
            "inbox",
            "systems",
            "protocols",
            "results",
            "releases",
        )
    ),
    # Pages that a person may not see.
    *(
        Shot(f"{name}-refused", f"{PROJECT}/{name}", "ann1")
        for name in (
            "people",
            "settings",
            "import",
            "needs-review",
            "rounds",
            "inbox",
            "systems",
            "results",
            "releases",
        )
    ),
    Shot("new-round-refused", f"{PROJECT}/rounds/new", "ann1"),
    # Task pages.
    Shot("task-label", "/work/{task_label}", "ann1"),
    Shot("task-label-keys", "/work/{task_label}", "ann1", _press("?")),
    Shot("task-label-guideline", "/work/{task_label}", "ann1", _press("g")),
    Shot("task-label-skip", "/work/{task_label}", "ann1", _press("k")),
    *(Shot(f"task-{slug.removeprefix('rounds-of-')}", f"/work/{{task_{slug}}}", "ann1") for slug in SCRIPTS),
    # The states of one draft, in this order.
    Shot(
        "task-writing-chunks", "/work/{task_writing}", "ann1", _keys("Home ArrowDown Space ArrowDown ArrowDown l Space")
    ),
    Shot("task-writing-marked", "/work/{task_writing}", "ann1", _keys("End . Shift+ArrowUp")),
    Shot("task-writing-outline", "/work/{task_writing}", "ann1", _keys("o")),
    Shot("task-writing-text", "/work/{task_writing}", "ann1", _keys("Control+Enter Alt+S")),
    Shot("task-writing-chosen", "/work/{task_writing}", "ann1", _keys("Escape v")),
    Shot(
        "task-writing-all",
        "/work/{task_writing}",
        "ann1",
        _keys(f"Control+Enter {'ArrowDown Space Control+Enter Alt+S Control+Enter ' * 3}Alt+S ArrowDown Space"),
    ),
    Shot("task-writing-look", "/work/{task_writing}", "ann1", _keys("Control+Enter Alt+S Control+Enter")),
    Shot("task-classes", "/work/{task_classes}", "ann1"),
    Shot("task-rate", "/work/{task_rate}", "evaluator"),
    Shot("task-compare", "/work/{task_compare}", "evaluator"),
    Shot("task-missing", "/work/99999", "ann1"),
    # Without an account.
    Shot("sign-in", "/sign-in", ""),
    Shot("take-missing", "/take", ""),
    Shot("take", "/profile", prepare=_participate, alone=True),
    Shot("take-work", "/profile", prepare=_volunteer, alone=True),
    Shot("take-withdraw", "/profile", prepare=_withdraw, alone=True),
)
