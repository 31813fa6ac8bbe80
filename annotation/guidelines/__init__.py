"""The guidelines that Concord ships, one Markdown file a kind: what a new project starts from."""

from pathlib import Path


def text(kind: str) -> str:
    return (Path(__file__).parent / f"{kind}.md").read_text(encoding="utf-8")
