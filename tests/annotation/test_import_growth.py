"""Every parser of imported text takes time in proportion to the file, even if the file was written to be slow."""

import json
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest

from annotation.clusters import pico
from annotation.clusters.sentences import pieces
from annotation.formats.pubmed.record import category_of, sections_of
from annotation.imports import get
from annotation.imports.json_lines import path_at
from annotation.imports.stream import START
from annotation.kinds.cue_lexicon import find_cues
from annotation.pubmed.actions import ids_in
from api.problems import Refused
from generation.backends.imported import reading as outputs
from measures.consistency import wording
from measures.counterfactual_drafts import Target, drafts
from measures.counterfactuals import Kind
from projects.jobs.batches import silent
from projects.uploads.faults import Faults
from projects.uploads.files import Source
from tests.annotation import jats_files, m3_files, pubmed_files
from tests.growth import assert_near_linear

pytestmark = [pytest.mark.row(53), pytest.mark.long]
Text = Callable[[int], str]

#: Texts of n pieces that are bad cases for patterns or loops.
TEXTS: dict[str, Text] = {
    repr(piece): lambda n, piece=piece: piece * n  # type: ignore[misc]
    for piece in (
        "a",
        " ",
        "\t",
        "\n",
        " \n",
        "a ",
        "a: ",
        "A. B: ",
        "Background: x. ",
        ". ",
        ".",
        "-",
        "[",
        "(",
        "1,",
        "1.",
        "*",
        "'",
        '"',
        ";",
        "\\",
        "_",
        "neither ",
        "no ",
        "reduces ",
        "evidence ",
        "the data ",
        "http://",
        "http:///1/1x",
        "pmid",
        "included ",
        "risk may ",
        "\u00a0",
        "\u2028",
    )
}
#: Markup of n elements within one text.
MARKUP: dict[str, Text] = {
    "exponents": lambda n: "10<sup>6</sup>" * n,
    "characters that are escaped": lambda n: "&amp;" * n,
    "blanks between elements": lambda n: "<i> </i>" * n,
    "formulas": lambda n: "<math><msup><mn>2</mn><mn>3</mn></msup></math>" * n,
    "a long formula": lambda n: f"<math>{'<mi>a</mi><mfrac><mn>1</mn><mn>2</mn></mfrac>' * (n // 4)}</math>",
    "alternatives": lambda n: f"<alternatives>{'<textual-form>a</textual-form>' * n}</alternatives>",
    "a long comment": lambda n: f"<!-- {'x ' * 20 * n} -->",
}
DELIMITED = {name: text for name, text in TEXTS.items() if name not in ("'\\n'", "' \\n'")}


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def of_pubmed(inside: str) -> bytes:
    parts = [("", "", inside[:90_000]), (inside[:200].replace('"', ""), "", "x")]
    return pubmed_files.as_xml([pubmed_files.article(title=inside[:90_000], parts=parts)])


def of_jats(inside: str) -> bytes:
    body = f"<p>{inside}</p><sec><title>{inside}</title><p>{inside}</p></sec>"
    reference = f'<ref id="B1"><label>{inside}</label><mixed-citation>{inside}</mixed-citation></ref>'
    return jats_files.as_file(jats_files.article(body=body, references=[reference]))


def many_citations(n: int) -> str:
    refs = "".join(f'<ref id="B{i}"><mixed-citation>x</mixed-citation></ref>' for i in range(1_000))
    cited = '<xref ref-type="bibr" rid="B0">1</xref>-<xref ref-type="bibr" rid="B999">9</xref> ' * n
    body = f"<sec><title>Included studies</title><p>{cited}</p></sec>"
    return jats_files.as_file(jats_files.article(body=body, references=[refs])).decode()


#: Files of each format with such a text in every field: format, level, how to build the file.
FILES: dict[str, tuple[str, str, str, Callable[[str], bytes]]] = {
    "PubMed XML": ("pubmed", "reviews", "a.xml", lambda text: of_pubmed(escaped(text))),
    "PubMed nbib": (
        "pubmed",
        "reviews",
        "a.nbib",
        lambda text: (
            f"PMID- 7\nTI  - {text[:1_000]}\nAB  - {text[:90_000]}\nDP  - {text}\nPT  - {text}\nSO  - x\n".encode()
        ),
    ),
    "nbib of continued lines": (
        "pubmed",
        "reviews",
        "a.nbib",
        lambda text: ("PMID- 7\nAB  - a\n" + "      a\n" * min(len(text), 8_000) + "SO  - x\n").encode(),
    ),
    "PubMed table": (
        "pubmed",
        "studies",
        "a.csv",
        lambda text: (
            f"pmid,review,title,abstract,year,publication types\n7,{quoted(text)},{quoted(text)},"
            f"{quoted(text[:90_000])},{quoted(text)},{quoted(text)}\n".encode()
        ),
    ),
    "PMIDs": ("pubmed", "reviews", "a.txt", lambda text: f"7\n{text}\n".encode()),
    "JATS": ("jats", "", "a.xml", lambda text: of_jats(escaped(text))),
    "M3": (
        "m3",
        "",
        "a.jsonl",
        lambda text: m3_files.as_bytes(
            [
                m3_files.cluster(
                    target_text=text[:19_000],
                    target_direction_span=text[:1_000],
                    pico={"p": text[:1_000], "i": "", "c": "", "o": ""},
                    studies=[m3_files.source(text[:19_000])],
                )
            ]
        ),
    ),
    "broken M3": ("m3", "", "a.jsonl", lambda text: json.dumps({"a": {"b": text}}).encode()[:-2] + b"\n"),
    "counterfactuals": (
        "counterfactuals",
        "",
        "a.csv",
        lambda text: f"docid,kind,text\n1_0,negation,{quoted(text)}\n".encode(),
    ),
    "ratings": (
        "ratings",
        "",
        "a.csv",
        lambda text: (
            "unit,system,rater,criterion,value\n" + f"1,a,b,c,{quoted(text)}\n" + f"{quoted(text)},a,b,c,1\n"
        ).encode(),
    ),
    "ratings without quotes": (
        "ratings",
        "",
        "a.tsv",
        lambda text: ("unit\tsystem\trater\tcriterion\tvalue\n" + f'1\ta\tb\tc\t"{text}\n' * 2).encode(),
    ),
    "SummEval": (
        "ratings",
        "",
        "a.jsonl",
        lambda text: json.dumps(
            {"id": text, "model_id": "a", "decoded": text, "expert_annotations": [{"coherence": 1}]}
        ).encode(),
    ),
}


def read(format: str, level: str, path: Path) -> object:
    """Read a whole file, as an import does, without a project."""
    reader, source = get(format), Source.of(path)
    if reader.streams:
        return sum(1 for _ in reader.stream(level).records(source, START, Faults()))
    return reader.read(source, level=level, faults=Faults(), progress=silent)


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@pytest.mark.parametrize("name", FILES)
def test_four_times_the_file_takes_not_sixteen_times_as_long(name: str, tmp_path: Path) -> None:
    format, level, file_name, content = FILES[name]
    path = tmp_path / file_name

    def work(text: str) -> None:
        path.write_bytes(content(text))
        with suppress(Refused):
            read(format, level, path)

    for text in DELIMITED.values():
        assert_near_linear(work, text, 2_000)


@pytest.mark.long
@pytest.mark.parametrize("markup", MARKUP)
@pytest.mark.parametrize(("format", "level", "content"), [("pubmed", "reviews", of_pubmed), ("jats", "", of_jats)])
def test_markup_takes_time_in_proportion(
    format: str, level: str, content: Callable[[str], bytes], markup: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.xml"

    def work(text: str) -> object:
        path.write_bytes(content(text))
        return read(format, level, path)

    whole = MARKUP[markup](4_000)
    if format == "pubmed" and len(whole) > 90_000 and "comment" not in markup:
        pytest.skip("an abstract of that length is cut off in the middle of an element")
    assert_near_linear(work, MARKUP[markup], 1_000)


def test_many_ranges_of_citations_take_time_in_proportion(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"

    def work(text: str) -> object:
        path.write_text(text)
        return get("jats").read(Source.of(path), level="", faults=Faults(), progress=silent)

    assert_near_linear(work, many_citations, 500)


def pasted(text: str) -> None:
    with suppress(Refused):
        ids_in(text)
    ids_in("https://pubmed.ncbi.nlm.nih.gov/1/ " * len(text))


def output_rows(form: str) -> Callable[[str], object]:
    def work(text: str) -> object:
        content = f"key,text\n1,{quoted(text)}\n" if form == "csv" else json.dumps({"key": "1", "text": text})
        return list(outputs.rows(BytesIO(content.encode()), form, "a", Faults(), outputs.Reading()))

    return work


def draft(kind: Kind) -> Callable[[str], object]:
    return lambda text: drafts(kind, Target(text))


WORKS: dict[str, tuple[Callable[[str], object], int]] = {
    "sections of an abstract": (sections_of, 2_000),
    "a section's label": (category_of, 2_000),
    "sentences of an abstract": (lambda text: pieces(text, ()), 1_000),
    "PMIDs that were pasted": (pasted, 1_000),
    "a place in JSON": (lambda text: path_at(json := f'{{"a": ["{text}", {text}', len(json)), 1_000),
    "PICO": (lambda text: (pico.without_implied(text), pico.in_words(text), pico.form_of(text[:2_000], text)), 500),
    "cues of the lexicon": (find_cues, 1_000),
    "wording of the consistency check": (lambda text: list(wording.readings(text)), 500),
    **{f"drafts: {kind}": (draft(kind), 150) for kind in Kind},
    "outputs in CSV": (output_rows("csv"), 2_000),
    "outputs in JSON": (output_rows("jsonl"), 2_000),
}


@pytest.mark.parametrize("name", WORKS)
def test_reading_a_text_takes_time_in_proportion(name: str) -> None:
    work, size = WORKS[name]
    for text in TEXTS.values():
        assert_near_linear(work, text, size)
