"""Invented PubMed records as XML with NCBI's DOCTYPE, and as NBIB."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

DOCTYPE = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">'
)
STRUCTURED = (
    ("BACKGROUND", "BACKGROUND", "Nepralin is given for relapse."),
    ("METHODS", "METHODS", "We searched two data bases up to May."),
    ("MAIN RESULTS", "RESULTS", "Relapse was rarer (I<sup>2</sup> = 12%, 10<sup>-3</sup> mol CO<sub>2</sub>)."),
    ("AUTHORS' CONCLUSIONS", "CONCLUSIONS", "Nepralin <i>reduces</i> relapse &amp; pain."),
)
Parts = Sequence[tuple[str, str, str]]


def article(
    pmid: str = "30000001",
    *,
    title: str = "Nepralin for relapse: a systematic review.",
    parts: Parts = STRUCTURED,
    year: str = "<Year>2019</Year><Month>Mar</Month>",
    types: Sequence[str] = ("Journal Article", "Systematic Review"),
    retracted_in: str = "",
    references: Iterable[str] = (),
) -> str:
    texts = "".join(
        "<AbstractText"
        + (f' Label="{escape(label)}"' if label else "")
        + (f' NlmCategory="{category}"' if category else "")
        + f">{text}</AbstractText>\n"
        for label, category, text in parts
    )
    abstract = f"<Abstract>{texts}<CopyrightInformation>(c) Somebody</CopyrightInformation></Abstract>" if parts else ""
    notice = (
        '<CommentsCorrectionsList><CommentsCorrections RefType="Cites"><RefSource>Other</RefSource><PMID>7</PMID>'
        f'</CommentsCorrections><CommentsCorrections RefType="RetractionIn"><RefSource>{retracted_in}</RefSource>'
        "<PMID>31000000</PMID></CommentsCorrections></CommentsCorrectionsList>"
        if retracted_in
        else ""
    )
    cited = "".join(
        f'<Reference><Citation>Somebody.</Citation><ArticleIdList><ArticleId IdType="pubmed">{one}</ArticleId>'
        '<ArticleId IdType="doi">10.1/x</ArticleId></ArticleIdList></Reference>'
        for one in references
    )
    kinds = "".join(f"<PublicationType>{name}</PublicationType>" for name in types)
    return f"""<PubmedArticle>
  <MedlineCitation Status="MEDLINE" Owner="NLM">
    <PMID Version="1">{pmid}</PMID>
    <Article PubModel="Print">
      <Journal><JournalIssue CitedMedium="Print"><PubDate>{year}</PubDate></JournalIssue></Journal>
      <ArticleTitle>{title}</ArticleTitle>
      {abstract}
      <PublicationTypeList>{kinds}</PublicationTypeList>
    </Article>
    {notice}
    <OtherAbstract Type="Publisher" Language="fre"><AbstractText>Autre.</AbstractText></OtherAbstract>
  </MedlineCitation>
  <PubmedData><ArticleIdList><ArticleId IdType="pubmed">{pmid}</ArticleId></ArticleIdList>
  <ReferenceList>{cited}</ReferenceList></PubmedData>
</PubmedArticle>"""


def as_xml(articles: Iterable[str], doctype: str = DOCTYPE) -> bytes:
    body = "\n".join(articles)
    return f'<?xml version="1.0" ?>\n{doctype}\n<PubmedArticleSet>\n{body}\n</PubmedArticleSet>\n'.encode()


NBIB = """
PMID- 30000001
OWN - NLM
DP  - 2019 Mar 4
TI  - Nepralin for relapse: a
      systematic review.
AB  - BACKGROUND: Nepralin is given for relapse. METHODS: We searched two data bases up
      to May. CONCLUSIONS: Nepralin reduces relapse.
PT  - Journal Article
PT  - Systematic Review
RIN - J Inv. 2021;3(1):2. PMID: 31000000
SO  - J Inv. 2019 Mar 4;1(2):3.

PMID- 30000002
DP  - 1998 Dec-1999 Jan
TI  - Another.
SO  - J Inv. 1998.
"""
