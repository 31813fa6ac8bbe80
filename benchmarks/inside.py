"""`python -m benchmarks.inside VERB < JSON`: run a function in a process with Concord and its database."""

import json
import sys
from typing import Any

import django

from benchmarks.inside_fresh import analysed, beside_older
from benchmarks.inside_jobs import answered, neighbours
from benchmarks.inside_lists import large_project
from benchmarks.inside_loads import before_load, cast, kept
from benchmarks.inside_moving import bare_export, bare_import, export, import_file
from benchmarks.inside_parquet import bare_parquet
from benchmarks.inside_ratings import rated
from benchmarks.inside_requests import ask_all, check_consistency, store_figures
from benchmarks.inside_rounds import grow, open_round, people, stored
from benchmarks.inside_scale import ask_pages, figures_set, import_set, release_set

VERBS = {
    f.__name__: f
    for f in (
        grow,
        people,
        open_round,
        stored,
        import_file,
        import_set,
        bare_import,
        export,
        bare_export,
        cast,
        before_load,
        kept,
        beside_older,
        analysed,
        neighbours,
        answered,
        rated,
        large_project,
        ask_all,
        check_consistency,
        store_figures,
        release_set,
        bare_parquet,
        figures_set,
        ask_pages,
    )
}


def main() -> None:
    django.setup()
    given: dict[str, Any] = json.load(sys.stdin)
    json.dump(VERBS[sys.argv[1]](**given), sys.stdout)


if __name__ == "__main__":
    main()
