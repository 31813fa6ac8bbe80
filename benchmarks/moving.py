"""Compare import and export of annotated propositions with a minimal equivalent, on SQLite and PostgreSQL."""

import json
import random
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.stages.servers import Missing

from .loop import texts
from .places import Place, place, postgres
from .report import Found, say

INPUTS = 4


def write_file(path: Path, propositions: int) -> None:
    """Write random clusters in M3's level 3 format: a target and `INPUTS` studies each, all labelled."""
    rng, sentences = random.Random(2), texts()

    def said(side: str, text: str) -> dict[str, str]:
        words = text.split()
        return {
            f"{side}_direction": rng.choice(["positive", "no effect", "negative"]),
            f"{side}_modality": rng.choice(["strong", "moderate", "weak"]),
            f"{side}_direction_span": " ".join(words[3:5]) if rng.random() < 0.9 else "",
            f"{side}_modality_span": words[6] if rng.random() < 0.6 else "",
        }

    with path.open("w", encoding="utf-8") as file:
        for n in range(propositions // (INPUTS + 1)):
            inputs = [
                {"source_pmid": str(rng.randrange(10**7, 10**8)), "source_text": text, **said("source", text)}
                for text in (rng.choice(sentences) for _ in range(INPUTS))
            ]
            target = rng.choice(sentences)
            labels = said("target", target)
            item = {
                "docid": f"{20_000_000 + n // 3}_{n % 3}",
                "pico": {"p": "[adult patients]", "i": target.split()[2], "c": "", "o": target.split()[5]},
                "discourse_relation": rng.choice(["agreement", "contradiction"]),
                **{f"target_{k}": labels[f"target_{k}"] for k in ("modality", "direction", "modality_span")},
                "target_direction_span": labels["target_direction_span"],
                "target_text": target,
                "input_text": " ||||| ".join(i["source_text"] for i in inputs),
                "input_studies": inputs,
            }
            file.write(json.dumps(item, ensure_ascii=False) + "\n")


@contextmanager
def _servers(found: Found) -> Iterator[dict[str, str]]:
    """Yield the databases to measure: name and address."""
    with ExitStack() as stack:
        engines = {"SQLite": ""}
        try:
            engines["PostgreSQL"] = stack.enter_context(postgres())
        except Missing as missing:
            found.skipped.append(str(missing))
        yield engines


def _imported(at: Place, file: Path, folder: Path) -> dict[str, Any]:
    made: dict[str, Any] = at.call("import_file", path=str(file), rows_out=str(folder / "rows"))
    return made


def importing(propositions: int, m3: Path) -> Found:
    found = Found()
    with tempfile.TemporaryDirectory(prefix="bench-") as name, _servers(found) as engines:
        folder = Path(name)
        made = folder / "made.jsonl"
        write_file(made, propositions)
        files = {f"{propositions:,} propositions": made}
        if m3.exists():
            files["M3 level 3"] = m3
        else:
            found.skipped.append(f"M3 level 3: {m3.name} is not there; say where by --m3")
        for engine, server in engines.items():
            for title, file in files.items():
                with place("concord", server) as at:
                    ours = _imported(at, file, folder)
                with place("concord", server) as at:
                    bare = at.call("bare_import", path=str(file), rows_in=str(folder / "rows"))
                ratio = ours["seconds"] / bare["seconds"]
                found.figures[f"{engine}, {title}"] = {"ours": ours, "bare": bare, "ratio": ratio}
                say(f"    {engine}, {title}: {ours} / {bare}")
                found.at_most(f"importing, {engine}, {title}: time / json.loads + bulk insert", ratio, 5)
                found.told(
                    f"importing, {engine}, {title}: memory, idle -> peak",
                    f"{ours['idle_mb']:.0f} -> {ours['peak_mb']:.0f} MB",
                )
    return found


def exporting(propositions: int) -> Found:
    found = Found()
    with tempfile.TemporaryDirectory(prefix="bench-") as name, _servers(found) as engines:
        folder = Path(name)
        for engine, server in engines.items():
            peaks = {}
            for size in (propositions // 4, propositions):
                write_file(folder / "made.jsonl", size)
                with place("concord", server) as at:
                    _imported(at, folder / "made.jsonl", folder)
                    out = Path(tempfile.mkdtemp(dir=folder))
                    bare = at.call("bare_export", out=str(out))
                    ours = at.call("export", out=str(out))
                peaks[size] = ours["peak_mb"] - ours["idle_mb"]
            ratio = ours["seconds"] / bare["seconds"]
            found.figures[engine] = {"ours": ours, "bare": bare, "ratio": ratio, "peaks_mb": peaks}
            say(f"    {engine}: {ours} / {bare}, peaks {peaks}")
            what = f"exporting, {engine}, {propositions:,} propositions"
            found.at_most(f"{what}: time / bare streamed export", ratio, 3)
            grown = peaks[propositions] - min(peaks.values())
            found.at_most(f"{what}: memory beside the export of a quarter of it", grown, 16, " MB more")
            told = f"{ours['release'] / bare['seconds']:.3g}"
            found.told(f"{what}: whole release (all files, digests) / bare", told)
    return found
