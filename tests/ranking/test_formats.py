"""What is read from each format, and what is said of a file that is not in its own."""

import json
import time
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
PAGES = [
    {"jsonrpc": "2.0", "result": {"tools": TOOL_PAIR[:1], "nextCursor": "2"}},
    {"jsonrpc": "2.0", "result": {"tools": TOOL_PAIR[1:]}},
    {"jsonrpc": "2.0", "method": "notifications/message"},
]
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
        "/fog": {"post": {"description": "Warns.", "tags": 5}, "x-owner": "quay"},
        "x-order": ["/fog"],
    },
}
SKILL = "---\nname: tide\ndescription: >-\n  Gives\n  the tide.\n---\n\n# Tide\n\n---\n"
SHAPES = [
    ("manifest", "quay/manifest.json", {"entries": PLAIN}, Form.MANIFEST),
    ("map", "quay.json", {"entries": {one.pop("name"): one for one in map(dict, PLAIN)}}, Form.MANIFEST),
    ("list", "quay.yaml", json.dumps(PLAIN), Form.MANIFEST),
    ("saved draft", "quay.jsonl", "\n".join(json.dumps({"entry": one}) for one in PLAIN), Form.MANIFEST),
    ("table", "quay.csv", "name,cost,description\nfog,,Warns.\ntide,3,Gives the tide.\n", Form.MANIFEST),
    ("tools", "quay.json", {"tools": TOOL_PAIR}, Form.TOOL),
    ("JSON-RPC", "quay.json", ANSWER, Form.TOOL),
    (
        "session of a server", "quay.jsonl",
        '{"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": {}}}\n\n' + json.dumps(ANSWER),
        Form.TOOL,
    ),
    ("pages of JSON-RPC", "quay.json", PAGES, Form.TOOL),
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
            r'entry 1: there is no "name", only words',
        ),
        ("a.json", '{"entries": {"a": 1}}', "entry 1: 'a': description: expected text, found 1"),
        ("a.json", "3", 'entry 1: there is no "name", only 3'),
        ("a.json", '["lamp"]', 'entry 1: there is no "name", only lamp'),
        ("a.json", "[" * 100_000, "maximum recursion depth"),
        ("a.json", "[" + "9" * 5_000 + "]", "digits"),
        ("a.yaml", "- name: a\n- name: [b\n", "line 3, column 1: did not find expected ',' or ']'"),
        ("a.yaml", "- name: a\n  name: b\n", "line 2, column 3: found duplicate key"),
        ("a.yaml", "- name: \x01", "control characters are not allowed"),
        ("a.yaml", "", "there is no entry in it"),
        ("a.json", "[]", "there is no entry in it"),
        ("a.json", '{"tools": []}', "there is no entry in it"),
        ("a.csv", "name,description\n", "there is no entry in it"),
        ("a.csv", 'name\n"fog\n', "line 2: unexpected end of data"),
        ("a.csv", "name\nfog\n\ntide,more\n", "line 4: 1 cell without a column"),
        (
            "a.json",
            '{"tools": [{"name": "fog"}], "nextCursor": "2"}',
            "further pages of tools follow",
        ),
        ("a.jsonl", '{"name": "fog"}\n{"name"', "line 2: "),
        (
            "a.jsonl",
            '{"name": "fog"}\n{"jsonrpc": "2.0"}\n{"title": "a"}',
            'line 3: there is no "name", only title',
        ),
        ("SKILL.md", "# Fog\n", 'there is no front matter with a "description"'),
        ("SKILL.md", "---\nname: fog\n---\n", 'there is no front matter with a "description"'),
        ("SKILL.md", "---\nname: [fog\n---\n", "line 3, column 1: .* expected ',' or ']'"),
        ("a.md", "---\ndescription: Fog.\n---\n", 'entry 1: there is no "name", only description'),
        ("a.csv", "title,cost\nfog,3\n", 'line 2: there is no "name", only title, cost'),
        ("a.json", '{"paths": {"/fog": 3}}', "there is no entry in it"),
        ("a.json", '[{"name": "a"}, {"name": " "}]', 'entry 2: there is no "name"'),
        ("a.json", '[{"name": 3}]', "entry 1: '3': name: expected text, found 3"),
        (
            "a.json",
            '[{"name": "a", "tags": 3}]',
            "entry 1: 'a': tags: expected text or a list, found 3",
        ),
        (
            "a.json",
            '[{"name": "a", "description": []}]',
            "entry 1: 'a': description: expected text, found list",
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

    with pytest.raises(InvalidInputError, match=r"a\.yaml': .* position 11") as caught:
        load_vocabulary(path)

    assert "UTF-8" in caught.value.hint


@pytest.mark.parametrize(
    ("line", "description"),
    [
        ("Use this skill when: fog rises: warn.", "Use this skill when: fog rises: warn."),
        ("Use this skill when:", "Use this skill when:"),
        ('"Fog: \\u00e9"', "Fog: é"),
        ("Fog. # a note", "Fog."),
        ("Fog\n  over water.", "Fog over water."),
        (">-\n  Use: fog\n  over water.", "Use: fog over water."),
    ],
)
def test_a_front_matter_may_have_a_text_of_one_line_with_colons(
    tmp_path: Path, line: str, description: str
) -> None:
    path = write(tmp_path, "fog/SKILL.md", f"---\nname: true\ndescription: {line}\n---\n")

    (entry,) = load_vocabulary(path).entries

    assert (entry.name, entry.description) == ("true", description)


def test_a_front_matter_that_never_ends_is_refused_in_a_moment(tmp_path: Path) -> None:
    path = write(tmp_path, "SKILL.md", "---\n" + " \n" * 100_000)

    began = time.process_time()
    with pytest.raises(InvalidInputError, match="no front matter"):
        load_vocabulary(path)

    assert time.process_time() - began < 5


def test_one_tool_alone_is_a_vocabulary_and_none_at_all_is_of_manifests(tmp_path: Path) -> None:
    found = load_vocabulary(write(tmp_path, "quay.json", TOOL_PAIR[0]))

    assert (found.entries[0].name, found.form) == ("tide", Form.TOOL)
    assert load_vocabulary([]).form is Form.MANIFEST


def test_an_entry_of_a_list_may_have_fields_in_which_an_object_holds_others(tmp_path: Path) -> None:
    found = load_vocabulary(write(tmp_path, "quay.json", [{"name": "fog", "tools": "Read"}]))

    assert [entry.name for entry in found.entries] == ["fog"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", "[[" + "{}," * 1_000_000 + "{}]]"),
        ("a.jsonl", "\n" * 1_100_000),
        ("a.csv", "name,description\n" + "\n" * 1_100_000),
    ],
)
def test_a_file_that_would_fill_the_memory_is_refused(
    name: str, content: str, tmp_path: Path
) -> None:
    path = write(tmp_path, name, content)

    with pytest.raises(InvalidInputError, match=f"{name}.*may expand to more than 256 MiB"):
        load_vocabulary(path)
