"""The web process imports neither torch nor other libraries that only workers need."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

HEAVY = (
    "torch",
    "transformers",
    "tokenizers",
    "sentence_transformers",
    "bert_score",
    "generation.neural",
    "statsmodels",
    "pandas",
    "vl_convert",
    "projects.reports.rendering",
    "pyarrow",
    "datasets",
    "mlcroissant",
    "releases.huggingface.writing",
    "datasketch",
    "sklearn",
)
#: All modules that requests, job creation and backend parameters can load.
SERVE = """
import sys
import config.wsgi
from django.urls import get_resolver
from generation import backends

def walk(patterns):
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            walk(pattern.url_patterns)
        else:
            pattern.callback

walk(get_resolver().url_patterns)
for backend in backends.every():
    assert backend.sections
print(",".join(name for name in %r if name in sys.modules))
"""


def test_the_web_process_has_loaded_neither_torch_nor_what_brings_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SERVE % (HEAVY,)],
        cwd=settings.ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"DEBUG": "1", "READ_DOT_ENV": "0", "DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


#: Documents for an endpoint are cut by any worker, without a model.
CUT = """
import sys
import config.wsgi
from generation.backends.openai.backend import cut_to_budget

assert cut_to_budget(("one two three", "four"), "words", 2, "from the front").left_out == 2
print(",".join(name for name in %r if name in sys.modules))
"""


@pytest.mark.long
def test_a_worker_without_torch_cuts_what_an_endpoint_reads(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CUT % (HEAVY,)],
        cwd=settings.ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={"DEBUG": "1", "READ_DOT_ENV": "0", "DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
