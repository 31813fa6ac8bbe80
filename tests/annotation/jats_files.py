"""Invented full texts in the format of PubMed Central (JATS)."""

from collections.abc import Sequence

DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.3 20210610//EN" '
    '"JATS-archivearticle1-3-mathml3.dtd">'
)
LICENCE = (
    '<license xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>This is an open access article '
    "under the CC BY 4.0 licence.</license-p></license>"
)


def reference(number: int, pmid: str = "", words: str = "", label: str = "") -> str:
    """Return a reference; without a PMID it has a DOI only."""
    id = f'<pub-id pub-id-type="pmid">{pmid}</pub-id>' if pmid else '<pub-id pub-id-type="doi">10.1/x</pub-id>'
    return (
        f'<ref id="B{number}"><label>{label or number}</label><element-citation><person-group><name>'
        "<surname>Adams</surname><given-names>A</given-names></name></person-group>"
        f"<article-title>{words or f'Trial {number}'}</article-title>"
        f"<year>2010</year>{id}</element-citation></ref>"
    )


def article(
    pmid: str = "26000000", *, body: str = "", references: Sequence[str] = (), lists: str = "", licence: str = LICENCE
) -> str:
    ids = f'<article-id pub-id-type="pmid">{pmid}</article-id>' if pmid else ""
    cited = f"<ref-list><title>References</title>{''.join(references)}</ref-list>" if references else ""
    return f"""<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="review-article">
<front><journal-meta><journal-id>J</journal-id></journal-meta><article-meta>
  {ids}<article-id pub-id-type="pmc">1234567</article-id><article-id pub-id-type="doi">10.1/review</article-id>
  <title-group><article-title>Nepralin for <italic>migraine</italic></article-title></title-group>
  <permissions><copyright-statement>(c) The authors</copyright-statement>{licence}</permissions>
</article-meta></front>
<body>{body}</body>
<back>{cited}{lists}</back>
<sub-article><front-stub/><body><sec><title>Included studies</title>
<p>A letter <xref ref-type="bibr" rid="B9">9</xref>.</p></sec></body></sub-article>
</article>"""


def as_file(*articles: str, doctype: str = DOCTYPE) -> bytes:
    whole = articles[0] if len(articles) == 1 else f"<pmc-articleset>{''.join(articles)}</pmc-articleset>"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{doctype}\n{whole}\n'.encode()


#: A section and a table of included studies with ranges of citations, and other references.
BODY = """
<sec><title>Methods</title><p>We used a tool <xref ref-type="bibr" rid="B6">6</xref> (10<sup>-3</sup>).</p></sec>
<sec><title>Results</title>
  <sec><title>Included studies</title>
    <p>We included four trials <xref ref-type="bibr" rid="B1">1</xref>\u2013<xref ref-type="bibr" rid="B3">3</xref>.</p>
    <sec><title>Excluded studies</title><p>One had no control <xref ref-type="bibr" rid="B5">5</xref>.</p></sec>
  </sec>
  <table-wrap id="T1"><label>Table 1.</label><caption><p>Characteristics of the included studies</p></caption>
    <table><tbody><tr><td>Evans 2001 <xref ref-type="bibr" rid="B4">4</xref></td><td>adults</td></tr></tbody></table>
  </table-wrap>
</sec>
"""
