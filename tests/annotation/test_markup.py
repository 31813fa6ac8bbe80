"""Markup in imported texts: powers, fractions and formulas keep their meaning; alternatives are read once."""

import re
from pathlib import Path
from typing import Any

import pytest

from annotation.formats.jats import xml as jats
from annotation.formats.pubmed import xml as pubmed
from annotation.imports.sax import XmlError
from tests.annotation import jats_files, pubmed_files

MATH = '<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML">{}</mml:math>'


def math(inside: str) -> str:
    return MATH.format(re.sub(r"<(/?)(\w)", r"<\1mml:\2", inside))


def abstract(inside: str) -> str:
    content = pubmed_files.as_xml([pubmed_files.article(parts=[("", "", inside)])])
    faults: list[Any] = []
    [record] = pubmed.articles([content], lambda *fault: faults.append(fault))
    assert not faults
    return record.abstract or ""


def paragraph(inside: str) -> str:
    content = jats_files.as_file(jats_files.article(body=f"<sec><p>{inside}</p></sec>"))
    [found] = jats.articles([content])
    return found.sections[0].text


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("1.2 x 10<sup>6</sup> cells", "1.2 x 10^6 cells"),
        ("10<sup>5.2</sup> and 10<sup>\u20133</sup>", "10^5.2 and 10^-3"),
        ("10<sup>-3</sup> or 10<sup>\u22123</sup>", "10^-3 or 10^-3"),
        ("10<sup>12</sup>/L", "10^12/L"),
        ("I<sup>2</sup> = 0%, \u03c7<sup>2</sup>", "I^2 = 0%, \u03c7^2"),
        ("kg/m<sup>2</sup>, cm<sup>3</sup>, kg m<sup>-2</sup>", "kg/m^2, cm^3, kg m^-2"),
        ("x<sup>0.5</sup>, 2<sup>n-1</sup>, 8<sup>1/3</sup>", "x^0.5, 2^(n-1), 8^(1/3)"),
        ("H<sub>2</sub>O, the 2<sup>nd</sup>", "H2O, the 2nd"),
        # Isotopes, charges and notes are no exponents.
        ("<sup>18</sup>F, Ca<sup>2+</sup>, Cl<sup>-</sup>", "\u00b9\u2078F, Ca\u00b2\u207a, Cl\u207b"),
        ("the trials<sup>12</sup> and trials<sup>1</sup>", "the trials\u00b9\u00b2 and trials\u00b9"),
        ("as shown<sup>1,2</sup>", "as shown1,2"),
    ],
)
def test_exponents_are_written_with_a_caret_and_other_raised_text_is_not(inside: str, text: str) -> None:
    assert abstract(inside) == text
    assert paragraph(inside) == text


def test_a_raised_number_that_cites_is_no_exponent() -> None:
    assert paragraph('10<xref ref-type="bibr" rid="B1"><sup>2</sup></xref>') == "10\u00b2"
    assert paragraph('10<sup><xref ref-type="bibr" rid="B1">2</xref></sup>') == "10\u00b2"


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<mrow><msup><mn>10</mn><mn>6</mn></msup></mrow>", "10^6"),
        ("<msup><mn>10</mn><mrow><mo>\u2212</mo><mn>3</mn></mrow></msup>", "10^-3"),
        ("<mfrac><mn>1</mn><mn>12</mn></mfrac>", "1/12"),
        ("<mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "2 1/2"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
        ("<msup><mi>e</mi><mfrac><mi>x</mi><mn>2</mn></mfrac></msup>", "e^(x/2)"),
        ("<msup><mi>x</mi><mo>\u2032</mo></msup>", "x\u2032"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "xi^2"),
        ("<mmultiscripts><mi>F</mi><mprescripts/><none/><mn>18</mn></mmultiscripts>", "\u00b9\u2078F"),
        ("<mmultiscripts><mi>x</mi><mi>i</mi><mn>2</mn></mmultiscripts>", "xi^2"),
        ("<msqrt><mi>a</mi><mo>+</mo><mn>1</mn></msqrt>", "\u221a(a+1)"),
        ("<mroot><mn>8</mn><mn>3</mn></mroot>", "8^(1/3)"),
        (
            "<munderover><mo>\u2211</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>",
            "\u2211_(i=1)^n",
        ),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a,b)"),
        ("<semantics><mn>5</mn><annotation>five</annotation></semantics>", "5"),
        ("<mi>a</mi><mo>\u2062</mo><mi>b</mi>", "ab"),
        ("<msub><mi>R</mi></msub>", "R"),
    ],
)
def test_a_formula_in_mathml_keeps_its_meaning(inside: str, text: str) -> None:
    assert abstract(f"It was {math(inside)} each") == f"It was {text} each"
    assert paragraph(f"It was {math(inside)} each") == f"It was {text} each"


def test_an_exponent_without_a_base_belongs_to_the_text_before_it() -> None:
    assert abstract("10 cm" + math("<msup><mrow/><mn>2</mn></msup>")) == "10 cm^2"


TEX = r"<tex-math>\documentclass{minimal}\begin{document}$$R_{0} \ge 1$$\end{document}</tex-math>"
R0 = math("<msub><mi>R</mi><mn>0</mn></msub><mo>\u2265</mo><mn>1</mn>")


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (f"<alternatives>{TEX}{R0}</alternatives>", "R0\u22651"),
        (f"<alternatives>{R0}{TEX}</alternatives>", "R0\u22651"),
        (f"{TEX}{R0}", "R0\u22651"),
        (f"<alternatives>{TEX}<inline-graphic/></alternatives>", r"R_{0} \ge 1"),
        (f"<alternatives><textual-form>R0 from 1</textual-form>{TEX}</alternatives>", "R0 from 1"),
    ],
)
def test_alternatives_of_a_formula_are_read_once(inside: str, text: str) -> None:
    assert paragraph(f"a <inline-formula>{inside}</inline-formula> b") == f"a {text} b"


def test_a_formula_without_end_is_refused() -> None:
    with pytest.raises(XmlError, match="a formula has more than 10,000 elements"):
        abstract(math("<mi>a</mi>" * 10_001))


def test_published_forms_of_a_formula_are_read_as_they_are_meant(cases: Path) -> None:
    [article] = jats.articles([(cases / "71-inline-formula-twice.nxml").read_bytes()])
    assert article.sections[0].text == "The mean was R0\u22651 and 10^-3, 10^5.2, 10^6."
