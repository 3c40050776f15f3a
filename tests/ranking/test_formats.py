"""What is read from each format, and what is said of a file that is not in its own."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from builders.ranking import write
from vocabgap.errors import InvalidInputError
from vocabgap.ranking.vocabulary import Entry, Form, load_vocabulary

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
PLAIN = [
    {"name": "tide", "description": "Gives the tide."},
    {"name": "fog", "description": "Warns."},
]
TOOL_PAIR = [{**entry, "inputSchema": {"type": "object"}} for entry in PLAIN]
ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"tools": TOOL_PAIR}}
OPENAPI = {
    "openapi": "3.1.0",
    "paths": {
        "/tides/{id}": {
            "parameters": [{"name": "id", "in": "path"}],
            "summary": "One tide",
            "get": {
                "operationId": "tide",
                "summary": "Gives the tide.",
                "description": "Of a day.",
            },
        },
        "/fog": {"post": {"description": "Warns."}},
    },
}
SKILL = "---\nname: tide\ndescription: >-\n  Gives\n  the tide.\n---\n\n# Tide\n\n---\n"
SHAPES = [
    ("manifest", "quay/manifest.json", {"entries": PLAIN}, Form.MANIFEST),
    ("map", "quay.json", {"entries": {one.pop("name"): one for one in map(dict, PLAIN)}}, Form.MANIFEST),
    ("list", "quay.yaml", json.dumps(PLAIN), Form.MANIFEST),
    ("saved draft", "quay.jsonl", "\n".join(json.dumps({"entry": one}) for one in PLAIN), Form.MANIFEST),
    ("table", "quay.csv", "name,cost,description\nfog,,Warns.\ntide,3,Gives the tide.,more\n", Form.MANIFEST),
    ("tools", "quay.json", {"tools": TOOL_PAIR}, Form.TOOL),
    ("JSON-RPC", "quay.json", ANSWER, Form.TOOL),
    (
        "session of a server", "quay.jsonl",
        '{"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": {}}}\n\n' + json.dumps(ANSWER),
        Form.TOOL,
    ),
    ("OpenAPI", "quay.yml", OPENAPI, Form.TOOL),
]  # fmt: skip
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


@pytest.mark.parametrize(
    ("name", "content", "form"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES]
)
def test_every_shape_gives_the_same_entries(
    tmp_path: Path, name: str, content: object, form: Form
) -> None:
    found = load_vocabulary(write(tmp_path, name, content))

    read = [
        (entry.name.replace("post /fog", "fog"), entry.description, entry.pack)
        for entry in found.entries
    ]
    assert sorted(read) == [("fog", "Warns.", "quay"), ("tide", "Gives the tide.", "quay")]
    assert found.form is form


def test_a_folder_stands_for_its_skills_which_are_read_from_their_front_matter(
    tmp_path: Path,
) -> None:
    write(tmp_path, "quay/tide/SKILL.md", SKILL)
    write(tmp_path, "quay/fog/SKILL.md", "---\r\ndescription: Warns.\r\n---\r\n")
    write(tmp_path, "quay/fog/notes.md", "No skill.")

    found = load_vocabulary(tmp_path / "quay")

    assert found.entries == (
        Entry("fog", "Warns.", pack="quay"),
        Entry("tide", "Gives the tide.", pack="quay"),
    )
    assert found.form is Form.SKILL
    assert load_vocabulary(tmp_path / "quay/tide/SKILL.md").entries == found.entries[1:]


@pytest.mark.parametrize(("name", "text"), SPELLINGS, ids=[name for name, _ in SPELLINGS])
def test_the_same_entries_are_read_from_every_format(tmp_path: Path, name: str, text: str) -> None:
    found = load_vocabulary(write(tmp_path, name, text)).entries

    assert [replace(entry, pack="") for entry in found] == TABLE


@pytest.mark.parametrize(
    ("name", "text", "output"),
    [
        ("a.json", '{"entries": [\n  {"name": }]}', r"a\.json': Expecting value: line 2 column 12"),
        (
            "a.json",
            '{"words": []}',
            r"""there is no "entries" or "entry" or "tools" or "result\.tools" or "paths\"""",
        ),
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
        (
            "a.jsonl",
            '{"name": "fog"}\n{"jsonrpc": "2.0"}\n{"title": "a"}',
            "line 3: .*field `name`",
        ),
        ("SKILL.md", "# Fog\n", 'there is no front matter with a "description"'),
        ("SKILL.md", "---\nname: fog\n---\n", 'there is no front matter with a "description"'),
        ("SKILL.md", "---\nname: [fog\n---\n", "line 3, column 1: .* expected ',' or ']'"),
        ("a.md", "---\ndescription: Fog.\n---\n", "missing required field `name`"),
        ("a.csv", "title\nfog\n", "missing required field `name`"),
        ("a.json", '{"paths": {"/fog": 3}}', "Expected `object`, got `int`"),
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
