"""Words that are on no page, in no guide, problem or command: plain English of the field stands in their place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = (
    "accounts",
    "annotation",
    "api",
    "audit",
    "config",
    "evaluation",
    "generation",
    "operations",
    "projects",
    "releases",
)
#: What is not said any more, and what is said instead.
GONE = {
    "Found a project": "New project",
    "be its lead": "Create project",
    "Select the words that show a value": "Select the cue",
    "keeps a piece": "add another part",
    "Let go of": "Clear selection",
    "Leave as it was": "Keep saved answer",
    "blank (placebo": "none stated",
    "cannot change afterwards": "a note: these are then fixed",
    "that the filters leave": "matching units",
    "Value in force": "Current label",
    "show candidate cues": "Suggest cues",
    "may sway people": "may bias annotators",
    "Reckoning": "Calculating",
    "How far it is": "Progress",
    "Take out": "Remove",
    "Close it for good": "Close round",
    "What was said is sealed": "Answers are locked",
    "Forming gold and sealing": "Answers locked",
    "Look again": "Needs review",
    "Still holds": "Confirm",
    "Decide anew": "Relabel",
    "All stand<": "Confirm all",
    "'Whose'": "Target or input",
    "As the system": "System",
    "How it handles": "Preferences",
    "Present password": "Current password",
    "Who wrote it reads": "Authors see your replies",
    "raises the matter again": "reopens the item",
    "Nothing waits": "Inbox empty",
    "and kept as it is": "Warnings (imported unchanged)",
    "found but for case": "differs in case",
    "record guarded": "Audit log intact",
    "What is mended later": "Later corrections",
    "complete: it is released": "complete: ready to release",
    "Into the grid": "Apply",
    "Put the corrected text": "Save corrected text",
    "modality as a rank": "modality (ordinal)",
    "One figure by system": "Compare systems",
    "of the prior (ln)": "Prior baseline (ln)",
    "Make the version": "Create version",
    "Run it": "Run",
    "Documents at most": "Max documents",
    "Sentences needed": "Sentences (required)",
}
#: Where one of them stands and may: file and words.
EXCEPTIONS = {
    # Goes with the page that is being redrawn.
    ("frontend/src/pages/Results.svelte", "one figure by system"),
    # The name of a scale, by which the figures of releases are found again.
    ("annotation/kinds/label/kind.py", "modality as a rank"),
}
ANY = re.compile("|".join(rf"(?<![\w/]){re.escape(words)}(?!\w)" for words in GONE), re.IGNORECASE)
SAY = {words.casefold(): instead for words, instead in GONE.items()}


def gone_from(text: str) -> set[str]:
    folded = text.casefold()
    # To look for all at every letter takes ten times as long as to look for each.
    return {words.casefold() for words in ANY.findall(text)} if any(words in folded for words in SAY) else set()


def python_strings(path: Path) -> Iterator[str]:
    """The string literals of a module without its docstrings, which say things to those who read the code."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def said(path: Path) -> str:
    """What a file says to people: of code without its comments."""
    if path.suffix == ".py":
        return "\n".join(python_strings(path))
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    return re.sub(r"/\*.*?\*/|<!--.*?-->|^\s*//.*?$", "", text, flags=re.DOTALL | re.MULTILINE)


def files() -> list[Path]:
    pages = [p for p in (ROOT / "frontend" / "src").rglob("*.*") if p.suffix in (".svelte", ".ts")]
    pages = [p for p in pages if not p.name.endswith((".test.ts", ".d.ts"))]
    guides = [*(ROOT / "docs").glob("*.md"), *(p for app in APPS for p in (ROOT / app).rglob("*.md"))]
    modules = [p for app in APPS for p in (ROOT / app).rglob("*.py") if "migrations" not in p.parts]
    return [*pages, *guides, *modules]


def test_words_that_were_given_up_are_nowhere() -> None:
    found = {(str(path.relative_to(ROOT)), words) for path in files() for words in gone_from(said(path))}
    wrong = sorted(f"{path}: {words!r}, say: {SAY[words]}" for path, words in found - EXCEPTIONS)
    assert wrong == []
    assert found >= EXCEPTIONS, "an exception that is not needed any more"


@pytest.mark.parametrize(
    ("name", "text", "seen"),
    [
        ("a.svelte", "<!-- Look again -->\n<h1>Look again</h1>", 1),
        ("a.ts", "/** Run it. */\n  // Run it\nconst label = 'Run it'\n", 1),
        ("a.py", '"""Run it."""\n\n\ndef a() -> str:\n    """Run it."""\n    return "Run it"\n', 1),
        ("a.md", "Press *run it*, or RUN IT; rerun it, run items.", 2),
    ],
)
def test_the_search_reads_what_people_read(tmp_path: Path, name: str, text: str, seen: int) -> None:
    (tmp_path / name).write_text(text)
    assert len(ANY.findall(said(tmp_path / name))) == seen
    assert bool(gone_from(said(tmp_path / name))) == bool(seen)
