"""Import and export, with minimal equivalents. The functions run in a process with Concord set up."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import models


def peak_mb() -> float:
    """Return the peak memory of this program in MB (getrusage would include the parent program)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000


def _tables() -> list[type[models.Model]]:
    """Return the models that an import of level 3 fills, parents first."""
    from annotation.models import (
        Cluster,
        Cue,
        CueFragment,
        DiscourseLabel,
        Inclusion,
        Label,
        PicoElement,
        PicoFragment,
        Proposition,
        Review,
        Study,
    )
    from projects.models import Decision, Import, Project, Unit

    return [
        Project,
        Import,
        Unit,
        Review,
        Study,
        Inclusion,
        Cluster,
        PicoElement,
        PicoFragment,
        Proposition,
        Label,
        Cue,
        CueFragment,
        DiscourseLabel,
        Decision,
    ]


def import_file(path: str, rows_out: str) -> dict[str, Any]:
    """Check and import a file as the application does, then write the created rows to ``rows_out``."""
    import pickle

    from annotation.imports.actions import check_files, import_files
    from projects.models import Project
    from projects.uploads.files import Source

    project = Project.objects.create(slug="bench", name="Benchmark")
    before = peak_mb()
    begun, cpu = time.perf_counter(), time.process_time()
    checked = check_files(project=project, format="m3", sources=[Source.of(Path(path))])
    read = time.perf_counter() - begun
    import_files(project=project, format="m3", checked=checked, by=None)
    spent = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu, "reading": read}
    peak = peak_mb()
    rows = [(m._meta.label, list(m._default_manager.order_by("pk").values())) for m in _tables()]
    Path(rows_out).write_bytes(pickle.dumps(rows))
    return spent | {"peak_mb": peak, "idle_mb": before, "rows": sum(len(r) for _, r in rows)}


def bare_import(path: str, rows_in: str) -> dict[str, Any]:
    """Parse every line with ``json.loads``, and insert the same rows with ``bulk_create`` in one transaction."""
    import pickle

    from django.apps import apps
    from django.db import transaction

    rows = pickle.loads(Path(rows_in).read_bytes())
    begun, cpu = time.perf_counter(), time.process_time()
    with Path(path).open(encoding="utf-8") as lines:
        items = [json.loads(line) for line in lines]
    parsed = time.perf_counter() - begun
    with transaction.atomic():
        for label, values in rows:
            model = apps.get_model(label)
            model._default_manager.bulk_create((model(**value) for value in values), batch_size=2_000)
    return {
        "seconds": time.perf_counter() - begun,
        "cpu": time.process_time() - cpu,
        "parsing": parsed,
        "items": len(items),
        "peak_mb": peak_mb(),
    }


def export(out: str) -> dict[str, Any]:
    """Write M3's level 3 as in a release, and then the whole release."""
    from audit.actions import create_checkpoints
    from projects.models import Project
    from releases.formats import m3
    from releases.formats.notes import Notes
    from releases.publishing.actions import write_release
    from releases.sources.state import snapshot

    project = Project.objects.get(slug="bench")
    before = peak_mb()
    begun, cpu = time.perf_counter(), time.process_time()
    size = 0
    with snapshot(), (Path(out) / "level3.jsonl").open("wb") as file:
        for _, lines in m3.files(project, Notes()):
            for line in lines:
                size += file.write(line)
    spent = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu}
    peak = peak_mb()
    begun = time.perf_counter()
    create_checkpoints()
    sealing = time.perf_counter() - begun
    begun = time.perf_counter()
    write_release(project=project, version="1.0.0", out=Path(out) / "release")
    return spent | {
        "bytes": size,
        "idle_mb": before,
        "peak_mb": peak,
        "sealing": sealing,
        "release": time.perf_counter() - begun,
        "release_peak_mb": peak_mb(),
    }


def bare_export(out: str) -> dict[str, Any]:
    """Write the same labels, cues, tuples and texts as one JSON object per cluster, with Django iterators."""
    from django.db.models import Prefetch

    from annotation.models import Cluster, Cue, Label, PicoElement, Proposition

    def clusters() -> Iterator[Any]:
        labels = Label.objects.prefetch_related(Prefetch("cues", Cue.objects.all()))
        claims = Proposition.objects.select_related("study", "unit").prefetch_related(Prefetch("unit__labels", labels))
        return (
            Cluster.objects.order_by("position")
            .prefetch_related(
                Prefetch("propositions", claims), Prefetch("pico", PicoElement.objects.all()), "unit__discourse_labels"
            )
            .iterator(chunk_size=200)
        )

    begun, cpu = time.perf_counter(), time.process_time()
    size = 0
    with (Path(out) / "bare.jsonl").open("wb") as file:
        for cluster in clusters():
            size += file.write(json.dumps(_bare(cluster), ensure_ascii=False).encode() + b"\n")
    return {
        "seconds": time.perf_counter() - begun,
        "cpu": time.process_time() - cpu,
        "bytes": size,
        "peak_mb": peak_mb(),
    }


def _bare(cluster: Any) -> dict[str, Any]:
    texts = [
        {
            "text": claim.text,
            "study": claim.study and claim.study.pmid,
            "labels": [
                {"polarity": x.polarity, "modality": x.modality, "cues": {c.aspect: c.text for c in x.cues.all()}}
                for x in claim.unit.labels.all()
            ],
        }
        for claim in cluster.propositions.all()
    ]
    return {
        "docid": cluster.key,
        "pico": {element.element: element.text for element in cluster.pico.all()},
        "relation": [d.relation for d in cluster.unit.discourse_labels.all()],
        "propositions": texts,
    }
