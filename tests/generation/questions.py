"""A corpus of questions in MEDIQA-AnS's form, for tests of its levels."""

import json
from pathlib import Path
from typing import Any

from annotation.imports.actions import check_files, import_files
from projects.models import Project
from projects.uploads.files import Source

SUBJECTS = ("rash", "fever", "cough", "pain", "fatigue", "nausea", "itch", "cramp")


def bring_questions(project: Project, folder: Path, count: int = 8, *, pages: bool = True) -> Project:
    """Import questions of two passages each, with extractive and abstractive summaries of both kinds."""
    primary = {str(n): _question(n, SUBJECTS[n % len(SUBJECTS)], pages=pages) for n in range(1, count + 1)}
    name = "question_driven_answer_summarization_primary_dataset.json"
    if not pages:
        name = "section2answer_multi_extractive_summ.json"
        primary = {key: _multi(value) for key, value in primary.items()}
    path = folder / name
    path.write_text(json.dumps(primary, indent=4))
    checked = check_files(project=project, format="mediqa-ans", sources=[Source.of(path)])
    import_files(project=project, format="mediqa-ans", checked=checked, by=None)
    return project


def _question(n: int, subject: str, *, pages: bool) -> dict[str, Any]:
    first = f"A {subject} is common. It lasts {n} days. See a doctor if the {subject} stays. Rest helps some people."
    second = f"Most people with {subject} recover. Water helps. Number {n} is rare. Do not wait for long."
    texts = {f"{n}_Answer1": first, f"{n}_Answer2": second}
    return {
        "question": f"how long does a {subject} last",
        "multi_abs_summ": f"A {subject} lasts {n} days and most people recover.",
        "multi_ext_summ": f"It lasts {n} days. Most people with {subject} recover.",
        "answers": {
            key: {
                "answer_abs_summ": f"The {subject} goes away, {'water' if n % 3 else 'rest'} helps.",
                "answer_ext_summ": text.split(". ")[n % 3] + ".",
                "section": text,
                "article": f"Home. {text} Contact us." if pages else "",
                "url": f"https://site{n % 3}.org/{key}",
                "rating": "3-Incomplete" if n % 2 else "4-Excellent",
            }
            for key, text in texts.items()
        },
    }


def _multi(question: dict[str, Any]) -> dict[str, Any]:
    return {
        "summary": question["multi_ext_summ"],
        "articles": {key: [answer["section"], answer["rating"]] for key, answer in question["answers"].items()},
        "question": question["question"],
    }
