"""Files in the published formats of M3, MS^2 and MSLR2022."""

from .table import INT, JSON, TEXT, Table

_KEY = "Key of the target: PubMed id of the review, and for levels 2 and 3 the number of the target."
_TARGET = {
    "target_text": "Text of the target.",
    "input_text": "Texts of the inputs, joined.",
    "input_studies": "Inputs: PubMed id of the study and text; in level 3 with polarity (`direction`), modality and "
    "their cues (`span`).",
}
_STUDY = {"source_pmid": TEXT, "source_text": TEXT}
_TEXTS = ("target_text", "input_text", "source_text")
_CUES = tuple(f"{of}_{name}_span" for of in ("target", "source") for name in ("direction", "modality"))
_LABELS = ("direction", "modality", "direction_span", "modality_span")
_MSLR = {
    "": "Number of the row in the published table. The column has no name; in Parquet it is `row`.",
    "ReviewID": "PubMed id of the review.",
}
_TAGGED = "with tags for populations, interventions and outcomes"

TABLES = (
    Table(
        "m3/level[12].jsonl",
        "target with its inputs, in M3's published format",
        ("docid",),
        {"docid": _KEY, **_TARGET},
        types={"input_studies": [_STUDY]},
        unit=("docid",),
        texts=_TEXTS,
    ),
    Table(
        "m3/level3.jsonl",
        "target with its inputs, in M3's published format",
        ("docid",),
        {
            "docid": _KEY,
            "pico": "Population, intervention, comparator and outcome; empty if blank.",
            "discourse_relation": "Agreement or contradiction of the inputs.",
            "target_modality": "Modality of the target.",
            "target_direction": "Polarity of the target.",
            "target_modality_span": "Cue of the modality; empty if there is none.",
            "target_direction_span": "Cue of the polarity; empty if there is none.",
            **_TARGET,
        },
        types={
            "pico": dict.fromkeys("pico", TEXT),
            "input_studies": [_STUDY | {f"source_{name}": TEXT for name in _LABELS}],
        },
        unit=("docid",),
        texts=(*_TEXTS, *_CUES),
    ),
    Table(
        "ms2/reviews.jsonl",
        "review with its studies, in MS^2's published format",
        ("docid",),
        {
            "docid": "Id of the review.",
            "title": "Title of the review.",
            "authors": "Authors.",
            "abstract": f"Abstract {_TAGGED}.",
            "structured_abstract": "Sentences of the abstract: class, tagged text and probabilities of the classes.",
            "summary": "Empty in the published files.",
            "structured_summary": "Empty in the published files.",
            "included_studies": "Included studies with their references.",
            "ongoing_studies": "Empty in the published files.",
            "awaiting_studies": "Empty in the published files.",
            "excluded_studies": "Empty in the published files.",
            "general_references": "Other references.",
            "unattributed_references": "Empty in the published files.",
            "content": "Empty in the published files.",
            "doi": "DOI.",
            "s2id": "Id in Semantic Scholar.",
            "s2hash": "Hash in Semantic Scholar.",
            "pmid": "PubMed id.",
            "interventions": "Quotes of interventions in the abstract.",
            "outcomes": "Quotes of outcomes in the abstract.",
            "populations": "Quotes of populations in the abstract.",
            "significances": "Effects of interventions on outcomes, with probabilities of their directions.",
        },
        "Fields that the imported file has beyond these.",
        types={
            **dict.fromkeys(
                (
                    "summary",
                    "content",
                    "structured_abstract",
                    "structured_summary",
                    "included_studies",
                    "ongoing_studies",
                    "awaiting_studies",
                    "excluded_studies",
                    "general_references",
                    "unattributed_references",
                    "significances",
                ),
                JSON,
            ),
            "pmid": INT,
            **{name: [TEXT] for name in ("interventions", "outcomes", "populations")},
        },
        unit=("docid",),
        texts=(
            *("title", "abstract", "structured_abstract", "summary", "structured_summary", "content"),
            *("included_studies", "ongoing_studies", "awaiting_studies", "excluded_studies"),
            *("general_references", "unattributed_references"),
            *("interventions", "outcomes", "populations", "significances"),
        ),
        has_other_texts=True,
    ),
    Table(
        "mslr/*-inputs.csv",
        "study of a review, in MSLR's format",
        ("ReviewID", "PMID"),
        {
            **_MSLR,
            "PMID": "PubMed id of the study.",
            "Title": "Title of the study.",
            "Abstract": f"Abstract {_TAGGED}.",
        },
        is_by_part=True,
        texts=("Title", "Abstract"),
    ),
    Table(
        "mslr/*-targets.csv",
        "target of a review, in MSLR's format",
        ("ReviewID",),
        {**_MSLR, "Target": "The target."},
        "Background of the review, where the imported table has it.",
        is_by_part=True,
        texts=("Target",),
        has_other_texts=True,
    ),
    Table(
        "mslr/*-reviews-info.csv",
        "background, in MSLR's format",
        ("ReviewID",),
        {**_MSLR, "Background": f"Background of the review {_TAGGED}."},
        is_by_part=True,
        texts=("Background",),
    ),
)
