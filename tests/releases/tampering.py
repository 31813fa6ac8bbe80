"""Changes to a release that keep it consistent, as somebody with access to the disk or database could make."""

import hashlib
import json
from pathlib import Path
from typing import Any

from releases.folders import manifest


def rewrite_manifest(folder: Path, changed: Any = None) -> dict[str, Any]:
    """Rewrite ``SHA256SUMS`` and the manifest for the current files, so that the folder is consistent. ``changed``
    may change the manifest before its digest is computed."""
    path = folder / manifest.NAME
    made: dict[str, Any] = json.loads(path.read_text())
    lines = []
    for entry in made["files"]:
        if entry["path"] == manifest.SUMS:
            continue
        content = (folder / entry["path"]).read_bytes()
        entry.update(size=len(content), sha256=hashlib.sha256(content).hexdigest())
        lines.append(f"{entry['sha256']}  {entry['path']}\n")
    sums = "".join(sorted(lines, key=lambda line: line[66:])).encode()
    (folder / manifest.SUMS).write_bytes(sums)
    for entry in made["files"]:
        if entry["path"] == manifest.SUMS:
            entry.update(size=len(sums), sha256=hashlib.sha256(sums).hexdigest())
    made["snapshot"] = hashlib.sha256(sums).hexdigest()
    if changed:
        changed(made)
    made = manifest.with_digest(made)
    path.write_bytes(manifest.as_bytes(made))
    return made


def flip_gold(folder: Path) -> dict[str, Any]:
    """Change the polarity of the first target and rewrite sums and manifest."""
    level3 = folder / "m3" / "level3.jsonl"
    whole = level3.read_bytes()
    forged = whole.replace(b'"target_direction": "positive"', b'"target_direction": "negative"', 1)
    assert forged != whole
    level3.write_bytes(forged)
    return rewrite_manifest(folder)
