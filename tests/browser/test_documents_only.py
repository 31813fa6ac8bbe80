"""No page of a project with documents and summaries only speaks of clusters, PubMed, systematic reviews or
propositions."""

import json
import re
from collections.abc import Callable

from tests.browser.conftest import Visit
from tests.config.documents_project import ABSENT
from tests.processes.site import Site

PREPARED = """
import json, tempfile
from pathlib import Path
from accounts.models import User
from projects.models import Round
from projects.stored_figures.actions import compute_and_store
from releases.publishing.actions import freeze
from tests.config.documents_project import build_documents, work
from tests.evaluation.rating_rounds import open_rating
user = lambda who: User.objects.get(email=f'{who}@example.org')
with tempfile.TemporaryDirectory() as folder:
    project = build_documents(Path(folder), lead=user('lead'), raters=(user('ann1'), user('ann2')))
compute_and_store(project=project)
runs = [version.runs.get() for system in project.systems.order_by('pk') for version in system.versions.all()]
closed = Round.objects.get(project=project)
opened = open_rating(project, list(project.members.filter(role='annotator')), runs, name='more ratings')
release = freeze(project=project, version='1.0.0', by=user('lead'))
work(project)
print(json.dumps({
    'closed': closed.pk, 'opened': opened.pk, 'imported': project.imports.get().pk, 'run': runs[0].pk,
    'system': runs[0].version.system_id, 'release': release.pk,
}))
"""
#: Every text of a page: what is shown, what opens on demand, and names that only assistive technology reads.
TEXTS = """() => [document.title, document.body.textContent,
  ...[...document.querySelectorAll('[aria-label], [title], [placeholder], [alt]')].flatMap(
    e => ['aria-label', 'title', 'placeholder', 'alt'].map(name => e.getAttribute(name) ?? ''))]"""


#: Names of published models that the page of a new version offers.
MODELS = re.compile(r"(PEGASUS|BigBird)-PubMed|google/[\w-]+-pubmed")


def absent(visit: Visit) -> set[str]:
    """Return the words that the project has nothing of, with what is around them."""
    texts = (MODELS.sub("", re.sub(r"\s+", " ", text)) for text in visit.page.evaluate(TEXTS))
    return {text[max(0, m.start() - 60) : m.end() + 30] for text in texts for m in ABSENT.finditer(text)}


def test_no_page_speaks_of_material_that_the_project_lacks(site: Site, visit: Callable[..., Visit]) -> None:
    ids = json.loads(site.manage("shell", "-v0", "-c", PREPARED).strip().splitlines()[-1])
    project = "/projects/reports"
    pages = [
        "", "/corpus", "/import", f"/import/{ids['imported']}", "/rounds", "/rounds/new", f"/rounds/{ids['closed']}",
        f"/rounds/{ids['closed']}/agreement", f"/rounds/{ids['opened']}", "/systems", "/systems/new",
        f"/systems/{ids['system']}", f"/systems/{ids['system']}/new", f"/systems/runs/{ids['run']}", "/systems/outputs",
        "/protocols", "/results", "/releases", f"/releases/{ids['release']}", "/people", "/guidelines",
        "/needs-review", "/inbox", "/settings",
    ]  # fmt: skip
    found: dict[str, set[str]] = {}
    lead = visit("lead")
    for path in pages:
        lead.go(project + path)
        lead.page.locator("main h1").first.wait_for()
        if path == "/releases":
            lead.page.get_by_role("button", name="New release").click()
            lead.page.wait_for_load_state("networkidle")
        found[path] = absent(lead)
    lead.page.keyboard.press("Control+k")
    for words in ("", "report", "search", "import"):
        lead.page.get_by_role("dialog").get_by_role("combobox").fill(words)
        lead.page.wait_for_timeout(500)
        lead.page.wait_for_load_state("networkidle")
        found[f"palette {words}"] = absent(lead)
    rater = visit("ann1")
    for path in (f"/work/{ids['opened']}", project, f"{project}/guidelines"):
        rater.go(path)
        found[f"rater {path}"] = absent(rater)
    assert {path: sorted(texts) for path, texts in found.items() if texts} == {}
