"""Pictures: whole, safe, and readable in both palettes."""

from xml.etree import ElementTree

import pytest

from projects.plots.dots import Dot, dot_plot, row_of
from projects.plots.svg import PALETTES, Drawing, Look, ticks, within

SVG = "{http://www.w3.org/2000/svg}"
DOTS = [
    Dot("Lead (proposition)", 20.5, (18.0, 23.0), 381),
    Dot('<script>alert("1")</script> & \x08', 14.0, None, 381),
    Dot("Silent", None, None, 0, "not scored yet"),
]


LOOKS = (Look(), Look(is_narrow=True))


def drawn(look: Look = LOOKS[0]) -> ElementTree.Element:
    return ElementTree.fromstring(dot_plot("ROUGE-1 F1", "Means.", DOTS, look, decimals=1))


def test_it_says_what_it_shows_to_those_who_do_not_see_it() -> None:
    root = drawn()
    assert root.get("role") == "img"
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert title.text == "ROUGE-1 F1"
    assert desc is not None
    assert desc.text == (
        "Lead (proposition): 20.5 [18.0, 23.0], n = 381; "
        '<script>alert("1")</script> & \ufffd: 14.0, n = 381; Silent: undefined: not scored yet'
    )


def test_names_are_words_and_nothing_else() -> None:
    tags = {element.tag.removeprefix(SVG) for element in drawn().iter()}
    assert tags == {"svg", "title", "desc", "g", "rect", "line", "circle", "text"}
    assert not [
        name for element in drawn().iter() for name in element.attrib if name.startswith("on") or "href" in name
    ]


@pytest.mark.parametrize("look", LOOKS)
def test_dots_and_intervals_lie_where_their_values_are(look: Look) -> None:
    root, row = drawn(look), row_of(look)
    circles = list(root.iter(f"{SVG}circle"))
    assert len(circles) == 2, "what is undefined has no dot"
    marks = ticks(0, 23.0)
    assert float(circles[0].attrib["cx"]) == pytest.approx(within(20.5, marks, row.left, row.right), abs=0.01)
    whiskers = [line for line in root.iter(f"{SVG}line") if line.get("stroke-width") == "2"]
    assert len(whiskers) == 1
    assert float(whiskers[0].attrib["x1"]) == pytest.approx(within(18.0, marks, row.left, row.right), abs=0.01)


def test_it_fills_a_column_of_a_paper_in_letters_of_six_points() -> None:
    root = drawn()
    printed = float(root.attrib["width"].removesuffix("mm")) / float(root.attrib["viewBox"].split()[2])
    sizes = {float(text.attrib["font-size"]) * printed / 25.4 * 72 for text in root.iter(f"{SVG}text")}
    assert float(root.attrib["width"].removesuffix("mm")) <= 85
    assert min(sizes) >= 6


@pytest.mark.parametrize("look", LOOKS)
def test_all_words_lie_within_the_picture(look: Look) -> None:
    row = row_of(look)
    dots = [Dot("W" * 2 * row.longest, 0.8512, (0.8012, 0.9012), 12_345), Dot("x", None, None, 0, "not scored yet")]
    picture = dot_plot("ROUGE-1 F1 in per cent", "A note of many words, " * 9, dots, look, decimals=4)
    for text in ElementTree.fromstring(picture).iter(f"{SVG}text"):
        # As wide as the letters of Helvetica, roughly: a capital counts as a small letter, as there are few.
        em = sum(0.56 if c.isdigit() else 0.52 if c.isalpha() else 0.3 for c in text.text or "")
        width = em * float(text.attrib["font-size"])
        start = float(text.attrib["x"]) - (width / 2 if text.get("text-anchor") == "middle" else 0)
        assert (start >= -6, start + width <= look.width) == (True, True), text.text


@pytest.mark.parametrize("look", LOOKS)
def test_names_that_differ_at_their_ends_stay_apart(look: Look) -> None:
    dots = [Dot(f"{'A long name ' * 9}{end}", 1.0, None, 1) for end in ("one", "two")]
    root = ElementTree.fromstring(dot_plot("x", "", dots, look, decimals=1))
    names = {element.text or "" for element in root.iter(f"{SVG}text") if (element.text or "").startswith("A long")}
    assert len(names) == 2
    assert {len(name) for name in names} == {row_of(look).longest}


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("palette", PALETTES)
def test_words_and_marks_stand_out_on_their_ground(palette: str) -> None:
    colours = PALETTES[palette]
    ground = luminance(colours["ground"])
    for name in ("ink", "quiet", "mark"):
        light, dark = sorted((luminance(colours[name]), ground), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, name
    assert f'fill="{colours["ground"]}"' in dot_plot("x", "", [], Look(palette), decimals=1)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 23, [0, 5, 10, 15, 20, 25]), (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (-5, 54, [-20, 0, 20, 40, 60]),
        (0, 0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (0, 0.07, [0, 0.02, 0.04, 0.06, 0.08]),
    ],
)  # fmt: skip
def test_axes_have_round_numbers_that_hold_everything(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_a_drawing_is_well_formed_whatever_it_is_told() -> None:
    drawing = Drawing(10, 10, Look("dark"))
    drawing.text(0, 0, "]]> \ud800 &amp; <b>")
    ElementTree.fromstring(drawing.document("a & b", "<>"))
