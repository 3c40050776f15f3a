"""What is read from each format, and what is said of a file that is not in its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from builders.ranking import write
from vocabgap.errors import InvalidInputError
from vocabgap.ranking.vocabulary import Entry, load_vocabulary

MANIFEST = {
    "_comment": "two entries",
    "entries": [
        {
            "name": "lamp_glow", "layer": "L3", "description": "Glow around lamps.",
            "tags": ["lamp", "light"], "touches": ["bloom"],
        },
        {"name": "quay_haze", "description": "Haze over water.", "tags": [], "touches": []},
    ],
}  # fmt: skip
TOOLS = [
    {
        "name": "read_tide",
        "title": "Tide table",
        "description": "Gives high and low water.",
        "inputSchema": {"type": "object", "properties": {"harbour": {"type": "string"}}},
    },
    {
        "name": "list_ships",
        "annotations": {"title": "List ships"},
        "inputSchema": {"type": "object"},
    },
]
TABLE = [
    Entry("lamp_glow", "Glow, around lamps.", ("lamp", "light"), ("bloom", "blur")),
    Entry("quay_haze"),
]
SPELLINGS = [
    ("words.jsonl", """{"name": "quay_haze"}

{"name": "lamp_glow", "description": "Glow, around lamps.", "tags": "lamp, light", "touches": "bloom,blur"}
"""),
    ("words.yaml", """
- name: quay_haze
- {name: lamp_glow, description: "Glow, around lamps.", tags: "lamp, light", touches: [bloom, blur]}
"""),
    ("words.yml", """
entries:
  lamp_glow:
    description: Glow, around lamps.
    tags: [lamp, light]
    touches: [bloom, blur]
  quay_haze: {}
"""),
]  # fmt: skip


def test_a_manifest_gives_its_entries_with_what_they_touch(tmp_path: Path) -> None:
    found = load_vocabulary(write(tmp_path, "quay/manifest.json", MANIFEST))

    assert found.entries == (
        Entry("lamp_glow", "Glow around lamps.", ("lamp", "light"), ("bloom",), "quay"),
        Entry("quay_haze", "Haze over water.", (), (), "quay"),
    )


@pytest.mark.parametrize(
    "document",
    [{"tools": TOOLS}, {"jsonrpc": "2.0", "id": 1, "result": {"tools": TOOLS}}],
    ids=["as it is", "in its envelope"],
)
def test_a_tools_list_gives_tools_whose_arguments_are_no_operations(
    tmp_path: Path, document: object
) -> None:
    found = load_vocabulary(write(tmp_path, "harbour.json", document))

    assert found.entries == (
        Entry("list_ships", "List ships", pack="harbour"),
        Entry("read_tide", "Gives high and low water.", pack="harbour"),
    )


@pytest.mark.parametrize(("name", "text"), SPELLINGS, ids=[name for name, _ in SPELLINGS])
def test_the_same_entries_are_read_from_every_format(tmp_path: Path, name: str, text: str) -> None:
    found = load_vocabulary(write(tmp_path, name, text)).entries

    assert [replace(entry, pack="") for entry in found] == TABLE


@pytest.mark.parametrize(
    ("name", "text", "output"),
    [
        ("a.json", '{"entries": [\n  {"name": }]}', r"a\.json': Expecting value: line 2 column 12"),
        ("a.json", '{"words": []}', r"""there is no "entries" or "tools" or "result\.tools\""""),
        ("a.json", '{"entries": {"a": 1}}', "Expected `object`, got `int`"),
        ("a.json", "3", "Expected `array`, got `int`"),
        ("a.json", '["lamp"]', r"Expected `object`, got `str` - at `\$\[0\]`"),
        ("a.json", "[" * 100_000, "maximum recursion depth"),
        ("a.json", "[" + "9" * 5_000 + "]", "digits"),
        ("a.yaml", "- name: a\n- name: [b\n", "line 3, column 1: did not find expected ',' or ']'"),
        ("a.yaml", "- name: a\n  name: b\n", "line 2, column 3: found duplicate key"),
        ("a.yaml", "- name: \x01", "control characters are not allowed"),
        ("a.yaml", "", "Expected `array`, got `null`"),
        ("a.jsonl", '{"name": "fog"}\n{"name"', "line 2: "),
        ("a.json", '[{"name": "a"}, {"name": " "}]', r"regex .* at `\$\[1\]\.name`"),
        ("a.json", '[{"name": 3}]', r"Expected `str`, got `int` - at `\$\[0\]\.name`"),
        ("a.json", '[{"name": "a", "tags": 3}]', r"got `int` - at `\$\[0\]\.tags`"),
        (
            "a.json",
            '[{"name": "a", "description": []}]',
            r"got `array` - at `\$\[0\]\.description`",
        ),
        ("a.json", '[{"name": "\\ud800"}]', "character 1 is half of a surrogate pair"),
        ("a.toml", "", r"the format of '\.toml' files is not known"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place_and_what_to_do(
    tmp_path: Path, name: str, text: str, output: str
) -> None:
    with pytest.raises(InvalidInputError, match=output) as caught:
        load_vocabulary(write(tmp_path, name, text))

    assert name in caught.value.message
    assert caught.value.hint


def test_a_file_that_is_not_utf8_is_told_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes("- name: café\n".encode("latin-1"))

    with pytest.raises(InvalidInputError, match=r"a\.yaml': .* position 11"):
        load_vocabulary(path)
