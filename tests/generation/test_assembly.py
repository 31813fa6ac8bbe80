"""Assembling model inputs: order, markers, and templates that evaluate nothing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.backends.assembly import NAMES, Unreadable, assemble, fill, ordered
from generation.backends.protocol import InputText, Source

SOURCE = Source(
    unit=7,
    key="111_0",
    inputs=(InputText("Short.", "First", "1"), InputText("A longer text.", "Second", "2"), InputText("Middle one.")),
    pico={"p": "", "i": "nepralin", "c": "[placebo]", "o": "relapse"},
    background="What is known.",
    question="Does it help?",
)


def documents(**assembly: Any) -> tuple[str, ...]:
    return assemble(SOURCE, assembly, seed=1).documents


def test_inputs_come_as_stored_unless_an_order_is_asked_for() -> None:
    assert documents() == ("Short.", "A longer text.", "Middle one.")
    assert documents(order="longest first")[0] == "A longer text."
    assert documents(order="shortest first")[0] == "Short."


def test_shuffling_depends_on_the_seed_and_the_unit_alone() -> None:
    many = Source(1, "a", tuple(InputText(str(n)) for n in range(20)))
    assert ordered(many, "shuffled", seed=3) == ordered(many, "shuffled", seed=3)
    assert ordered(many, "shuffled", seed=3) != ordered(many, "shuffled", seed=4)
    other = Source(1, "b", many.inputs)
    assert ordered(many, "shuffled", seed=3) != ordered(other, "shuffled", seed=3)


def test_a_limit_of_documents_applies_after_ordering() -> None:
    assert documents(order="longest first", documents=1) == ("A longer text.",)


def test_the_pico_prompt_precedes_every_input_without_blank_elements() -> None:
    assert documents(pico=True)[2] == "I: nepralin; C: [placebo]; O: relapse Middle one."


def test_titles_are_put_before_the_inputs_that_have_one() -> None:
    assert documents(titles=True) == ("First Short.", "Second A longer text.", "Middle one.")


def test_the_markers_of_ms2_surround_background_and_studies() -> None:
    made = assemble(SOURCE, {"markers": "ms2", "background": True}, seed=0)
    assert made.before == "<background> What is known. </background>"
    assert made.documents[0] == "<ref> First <sep> Short. </ref>"


def test_background_and_question_come_first_when_asked_for() -> None:
    assert assemble(SOURCE, {"background": True, "question": True}, seed=0).before == "What is known. Does it help?"
    assert assemble(SOURCE, {}, seed=0).before == ""
    told = assemble(SOURCE, {"prefix": "summarize: {i}", "question": True}, seed=0)
    assert told.before == "summarize: {i} Does it help?", "words, and no template"


@pytest.mark.parametrize(
    ("asked", "name"), [("background", "background"), ("question", "question"), ("pico", "PICO tuple")]
)
def test_a_unit_without_the_requested_background_fails(asked: str, name: str) -> None:
    bare = Source(1, "k", (InputText("x"),), {"p": " ", "i": ""}, background=" ")
    for read in (lambda: assemble(bare, {asked: True}, seed=0), lambda: fill(f"{{{asked}}} {{inputs}}", bare, "x")):
        with pytest.raises(Unreadable, match=f"no {name}, which this version requires"):
            read()
    assert assemble(bare, {}, seed=0).documents == ("x",)
    # Elements of a tuple may be blank.
    assert fill("{p}|{c}|{inputs}", bare, "x") == " ||x"


@pytest.mark.parametrize(
    "template",
    [
        "{{7*7}}",
        "{x.__class__}",
        "{inputs.__class__}",
        "{inputs!r}",
        "{0}",
        "{%  if x %}",
        "${inputs:x}",
        "%(inputs)s",
        "{ inputs }",
        "{inputs:>10}",
        "{config}",
    ],
)
def test_braces_without_a_plain_name_stay_in_templates(template: str) -> None:
    assert fill(template, SOURCE, "DOCS") == template


def test_every_name_is_replaced_once_and_what_the_texts_hold_is_not_read_again() -> None:
    sly = Source(1, "k", (InputText("x"),), {"i": "{background}"}, background="SECRET", question="{i}")
    assert fill("{question}|{i}|{inputs}", sly, "{pico} {{i}}") == "{i}|{background}|{pico} {{i}}"
    assert all(fill("{" + name + "}", SOURCE, "DOCS") != "{" + name + "}" for name in NAMES)


@given(st.text())
def test_a_template_without_braces_comes_back_as_it_is(text: str) -> None:
    plain = text.replace("{", "")
    assert fill(plain, SOURCE, "DOCS") == plain
