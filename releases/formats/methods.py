"""``methods.md`` and ``methods.tex``: the methods text. ``ratings/methods.md``: its paragraphs on rating rounds."""

from collections.abc import Iterator

from projects.models import Project

from ..citation.facts import facts
from ..methods.facts.ratings import rating_facts
from ..methods.facts.study import StudyFacts
from ..methods.latex import latex
from ..methods.markdown import escaped, markdown
from ..methods.sections import document
from ..methods.sections.people import BACKGROUND, ETHICS, PAID, RECRUITED
from ..methods.sections.ratings import STATED, paragraph
from ..methods.text import Section
from .notes import Notes

MARKDOWN, LATEX = "methods.md", "methods.tex"
_BEGINNING = """# How summaries were rated

One paragraph per round for use in a paper, generated from the data of this release. `methods.md` has the whole text.
Information that neither the data nor the settings contain is marked NOT PROVIDED.
"""


def methods_files(study: StudyFacts) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of each file."""
    text = document(study)
    yield MARKDOWN, markdown(text).encode()
    yield LATEX, latex(text).encode()


def paragraphs(project: Project, notes: Notes) -> Iterator[bytes]:
    """Yield ``ratings/methods.md``, one round at a time."""
    yield _BEGINNING.encode()
    for rating in rating_facts(project, notes.agreement):
        yield f"\n## {escaped(rating.round)}\n\n{escaped(' '.join(paragraph(rating)))}\n".encode()
    answers, section = facts(project).answers, Section("")
    items = [
        ("Recruitment of people", (RECRUITED,)),
        ("Background, payment and acquaintance of people", (BACKGROUND, PAID)),
        ("Ethical approval", ETHICS),
        *((what, (question,)) for what, question in STATED),
    ]
    lines = [section.stated(what, next(filter(None, map(answers.get, of)), "") or "") for what, of in items]
    yield ("\n## From the settings\n\n" + "".join(f"* {escaped(line)}\n" for line in lines)).encode()
