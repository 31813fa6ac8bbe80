"""The kind that only the tests know runs by itself: with settings of its own, and its tables migrated."""

from .run import DATA, ROOT, Run

FOLDER = "tests/two_texts"
SETTINGS = f"{FOLDER.replace('/', '.')}.settings"


def check(run: Run, *, pace: str, **environment: str) -> None:
    """Its tests of a pace, on the data base of the environment, else on SQLite; its migrations come upon a template."""
    run.pytest("--ds", SETTINGS, "-m", pace, FOLDER, **environment)


def types(run: Run) -> None:
    """Its component is checked as the product's are."""
    run.command(
        "npm",
        "--prefix",
        ROOT / "frontend",
        "exec",
        "--",
        "svelte-check",
        "--workspace",
        ROOT / "frontend",
        "--tsconfig",
        ROOT / FOLDER / "frontend" / "tsconfig.json",
        "--fail-on-warnings",
    )


def bundle(run: Run) -> str:
    """The pages with the kind in them, apart from production's; the folder."""
    out = DATA / "two_texts_dist"
    run.command(
        "npm",
        "--prefix",
        ROOT / "frontend",
        "run",
        "build",
        "--",
        "--outDir",
        out,
        "--emptyOutDir",
        CONCORD_KINDS=str(ROOT / FOLDER / "frontend"),
    )
    return str(out)
