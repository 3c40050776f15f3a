"""Normal forms: what counts as the same term."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vocabgap.glossary.normal_form import (
    composed,
    lower,
    normal_form,
    singular,
    term_key,
)
from vocabgap.glossary.senses import stored_surface

PLURALS = """
masks mask; workspaces workspace; layers layer; images image; caches cache; databases database;
responses response; reuses reuse; excuses excuse; walruses walrus;
classes class; passes pass; boxes box; branches branch; patches patch; meshes mesh; quizzes quiz; buzzes buzz;
policies policy; queries query; categories category; movies movie; cookies cookie; ties tie;
heroes hero; echoes echo; shoes shoe; toes toe; sizes size; niches niche;
statuses status; buses bus; viruses virus; houses house; clauses clause; uses use;
lenses lens; analyses analysis; axes axis; aliases alias; canvases canvas;
apis api; photos photo; areas area; menus menu; schemas schema; guis gui; days day; glasses glass
"""
KEPT = """
lens news series species process class address status campus analysis basis canvas atlas chaos cosmos bus was
this is gas us css dns mask analytics physics k8s work_packages sub-masks photographer's always
"""


def test_plurals_become_singulars() -> None:
    pairs = dict(pair.split() for pair in PLURALS.split(";"))

    assert {plural: normal_form(plural) for plural in pairs} == pairs


@pytest.mark.parametrize("word", KEPT.split())
def test_what_is_no_plural_stays(word: str) -> None:
    assert normal_form(word) == word


@given(st.text(alphabet="aeiouysxzhcrtlm", max_size=12))
@example("glasseses")
def test_a_singular_is_its_own_singular(word: str) -> None:
    assert singular(singular(word)) == singular(word)


@given(st.text())
@example("İ")
@example("\ud800")
@example("ℌs")
def test_no_text_makes_a_term_that_breaks_its_rules(text: str) -> None:
    surface = stored_surface(normal_form(text))
    if surface is not None:
        assert surface.surface_text == surface.surface_text.lower().strip() != ""


@given(st.text())
@example("CORS")
@example("work  packages")
@example("I\u00ad\u0307\u0307S\u00ad\u0301")
def test_a_term_is_looked_up_the_same_way_once_it_is_normal(text: str) -> None:
    assert term_key(normal_form(text)) == term_key(normal_form(normal_form(text)))


def test_spellings_of_one_term_are_looked_up_alike() -> None:
    spellings = (
        "Work Packages",
        "work-package",
        "work_package",
        "workPackage",
        "workpackages",
        " WORK  package",
    )
    assert {term_key(text) for text in (*spellings, "works package")} == {"workpackage"}
    assert term_key("c") != term_key("c++") != term_key("c+")


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("İSTANBUL", "istanbul"), ("İstanbul".lower(), "Istanbul"), ("a\u00adb", "ab"),
        ("no\u200bbreak", "nobreak"), ("کتاب\u200cها", "کتابها"), ("❤\ufe0f", "❤"),
    ],
)  # fmt: skip
def test_what_is_not_seen_in_a_spelling_makes_no_other_term(text: str, other: str) -> None:
    assert term_key(text) == term_key(other) != ""


@given(st.text(alphabet="iIİıj\u0307\u0301\u0323\u00ad\u200d\u034fSs "))
@example("İ\u0307")
def test_composing_is_done_once(text: str) -> None:
    assert composed(composed(text)) == composed(text)
    assert lower(lower(text)) == lower(text)
