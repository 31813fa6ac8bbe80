"""No page of a project with documents and summaries only speaks of clusters, PubMed, systematic reviews or
propositions."""

import json
import re
from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit
from tests.browser.test_mapping import choose
from tests.browser.test_write import open_writing
from tests.config.documents_project import ABSENT
from tests.processes.site import Site

PREPARED = """
import json, tempfile
from pathlib import Path
from accounts.models import User
from annotation.models import DataSplit, Target
from annotation.splits.actions import create_split
from annotation.splits.parameters import SplitParameters, parse_parts
from evaluation.protocols.actions import create_protocol
from evaluation.protocols.content import as_json
from evaluation.protocols.shipped import templates
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
create_split(project=project, asked=SplitParameters('main', parts=parse_parts('train=50,test=50')), by=None)
content = as_json(templates()[0].content)
protocol = create_protocol(project=project, name='Own', content=content, by=user('lead'))
release = freeze(project=project, version='1.0.0', by=user('lead'))
work(project)
print(json.dumps({
    'closed': closed.pk, 'opened': opened.pk, 'imported': project.imports.get().pk, 'run': runs[0].pk,
    'system': runs[0].version.system_id, 'release': release.pk, 'protocol': protocol.pk,
    'unit': Target.objects.filter(project=project).first().unit_id,
}))
"""
#: Every text of a page: what is shown, what opens on demand, and names that only assistive technology reads.
TEXTS = """() => [document.title, document.body.textContent,
  ...[...document.querySelectorAll('[aria-label], [title], [placeholder], [alt]')].flatMap(
    e => ['aria-label', 'title', 'placeholder', 'alt'].map(name => e.getAttribute(name) ?? ''))]"""
#: Pages that name no reviews as material either. Others have names of formats and models, and intervals over reviews.
WITHOUT_REVIEWS = re.compile(
    r"/(corpus|splits|readings|ranking|origin/\d+|protocols/\d+|settings.*|needs-review|inbox)"
)
REVIEWS = re.compile(r"\breviews\b", re.IGNORECASE)
#: Names of published models that the page of a new version offers.
MODELS = re.compile(r"(PEGASUS|BigBird)-PubMed|google/[\w-]+-pubmed")


def absent(visit: Visit, path: str = "") -> set[str]:
    """Return the words that the project has nothing of, with what is around them."""
    patterns = (ABSENT, REVIEWS) if WITHOUT_REVIEWS.fullmatch(path) else (ABSENT,)
    texts = (MODELS.sub("", re.sub(r"\s+", " ", text)) for text in visit.page.evaluate(TEXTS))
    return {
        text[max(0, m.start() - 60) : m.end() + 30]
        for text in texts
        for words in patterns
        for m in words.finditer(text)
    }


@pytest.mark.long
def test_no_page_speaks_of_material_that_the_project_lacks(site: Site, visit: Callable[..., Visit]) -> None:
    ids = json.loads(site.manage("shell", "-v0", "-c", PREPARED).strip().splitlines()[-1])
    project = "/projects/reports"
    pages = [
        "", "/corpus", "/import", f"/import/{ids['imported']}", "/rounds", "/rounds/new", f"/rounds/{ids['closed']}",
        f"/rounds/{ids['closed']}/agreement", f"/rounds/{ids['opened']}", "/systems", "/systems/new",
        f"/systems/{ids['system']}", f"/systems/{ids['system']}/new", f"/systems/runs/{ids['run']}", "/systems/outputs",
        "/protocols", f"/protocols/{ids['protocol']}", "/results", "/splits", "/releases",
        f"/releases/{ids['release']}", f"/releases/{ids['release']}/row", f"/origin/{ids['unit']}",
        "/people", "/guidelines", "/readings", "/ranking",
        "/needs-review", "/inbox", "/settings", "/settings?tab=citation",
    ]  # fmt: skip
    found: dict[str, set[str]] = {}
    lead = visit("lead")
    for path in pages:
        lead.go(project + path)
        lead.page.locator("main h1").first.wait_for()
        if path == "/releases":
            lead.page.get_by_role("button", name="New release").click()
            lead.page.wait_for_load_state("networkidle")
        found[path] = absent(lead, path)
    lead.page.keyboard.press("Control+k")
    for words in ("", "report", "search", "import"):
        lead.page.get_by_role("dialog").get_by_role("combobox").fill(words)
        lead.page.wait_for_timeout(500)
        lead.page.wait_for_load_state("networkidle")
        found[f"palette {words}"] = absent(lead)
    lead.go(f"{project}/import")
    table = "id,text,summary\n1,The trial is small. It finds no change.,No change.\n"
    choose(lead.page, "own.csv", table.encode())
    found["columns"] = absent(lead)
    rater = visit("ann1")
    for path in (f"/work/{ids['opened']}", project, f"{project}/guidelines"):
        rater.go(path)
        found[f"rater {path}"] = absent(rater)
    rater.go(f"/work/{open_writing(site, 'questions')}")
    rater.page.get_by_text("What should I know before I take nepralin").first.wait_for()
    found["write"] = absent(rater)
    lines = [f"{path}: {text}" for path, texts in found.items() for text in sorted(texts)]
    assert not lines, "\n".join(lines)
