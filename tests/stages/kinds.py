"""Checks of the task kind in tests/two_texts, which is installed only by its own settings."""

from .run import DATA, ROOT, Run

FOLDER = "tests/two_texts"
SETTINGS = f"{FOLDER.replace('/', '.')}.settings"


def check(run: Run, *, pace: str, **environment: str) -> None:
    """Run its tests of a pace, on the database of the environment or SQLite. Its migrations run on the template."""
    run.pytest("--ds", SETTINGS, "-m", pace, FOLDER, **environment)


def types(run: Run) -> None:
    """Check the types of its Svelte component."""
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
    """Build the pages with the kind, and return their folder."""
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
