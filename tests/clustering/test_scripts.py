"""Wordings in scripts without spaces, and in scripts that the model does not know."""

from itertools import chain

import pytest

from builders.clustering import asking, grouped_wordings
from vocabgap.clustering.encoder import in_unknown_script, known_scripts
from vocabgap.clustering.grouping import cluster
from vocabgap.text import pieces

# Wordings of one need each: fold paper, play a bell, water the garden.
NEEDS = {
    "Chinese": ["折叠纸张 纸张折叠 把纸张折叠起来", "播放铃声 铃声播放", "浇灌花园 花园浇灌"],
    "Japanese": [
        "紙を折りたたむ 紙の折りたたみ",
        "鐘を鳴らす 鐘を鳴らすこと",
        "庭の水まき 庭への水まき",
    ],
    "Thai": ["พับกระดาษ การพับกระดาษ", "สั่นกระดิ่ง การสั่นกระดิ่ง", "รดน้ำสวน รดน้ำในสวน"],
    "Russian": [
        "сложить-бумагу сложить-листы-бумаги",
        "звонок-в-дверь дверной-звонок",
        "полив-сада полить-сад",
    ],
    "Arabic": ["طي-الورق طي-ورق", "قرع-الجرس قرع-جرس", "سقي-الحديقة سقي-حديقة"],
}


def groups(wordings: list[str], embedder: str) -> set[frozenset[str]]:
    return grouped_wordings(cluster(asking(*wordings), embedder=embedder))


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("bell", ["bell"]), ("zażółć", ["zażółć"]), ("звонок", ["звонок"]), ("铃", ["铃"]),
        ("播放铃", ["播", "播放", "放", "放铃", "铃"]), ("ベル", ["ベル"]), ("鐘を", ["鐘", "鐘を"]),
        ("พับกร", ["พับ", "ับก", "บกร"]), ("导出pdf", ["导", "导出", "出", "pdf"]),
    ],
)  # fmt: skip
def test_words_of_scripts_without_spaces_are_cut_into_pieces(
    word: str, expected: list[str]
) -> None:
    assert list(pieces([word])) == expected


def test_a_model_knows_the_scripts_of_a_thousand_tokens_or_a_tenth_of_all() -> None:
    latin, han = [f"w{number}" for number in range(30_000)], ["铃"] * 999

    assert known_scripts([*latin, *han]) == {"LATIN"}
    assert known_scripts([*latin, *han, "##花"]) == {"LATIN", "CJK"}
    assert known_scripts(["a", "б"]) == {"LATIN", "CYRILLIC"}
    assert known_scripts([]) == {"LATIN"}


@pytest.mark.parametrize(
    ("surface", "unknown"),
    [
        ("ring a bell", False), ("zażółć", False), ("звонок", True), ("导出pdf", True),
        ("звонок bell", True), ("звонок bell ring", False),
        ("rotate π chart", False), ("🔔", False),
    ],
)  # fmt: skip
def test_a_text_is_unknown_if_half_of_its_words_are(surface: str, unknown: bool) -> None:
    assert in_unknown_script([surface], {"LATIN"}).tolist() == [unknown]
    assert not in_unknown_script([surface], {"LATIN", "CYRILLIC", "CJK", "GREEK"}).any()


@pytest.mark.parametrize("language", ["Chinese", "Japanese", "Thai", "Arabic"])
def test_needs_in_other_scripts_are_grouped_by_words(language: str) -> None:
    needs = [need.split() for need in NEEDS[language]]

    assert groups([*chain.from_iterable(needs)], "none") == set(map(frozenset, needs))


@pytest.mark.usefixtures("minilm")
def test_the_model_does_not_judge_what_it_cannot_read() -> None:
    """No group holds two needs, and most wordings of a need are together, as by words alone."""
    english = ["fold the paper", "paper folding", "ring the bell"]
    need_of = {
        wording: need for need in chain.from_iterable(NEEDS.values()) for wording in need.split()
    }
    wordings = list(need_of)

    found = groups([*wordings, *english], "minilm")

    others = {group for group in found if group.isdisjoint(english)}
    assert all(len({need_of[wording] for wording in group}) == 1 for group in others)
    assert found - others == groups(english, "minilm")
    assert others == groups(wordings, "none")
