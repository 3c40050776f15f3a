"""Files that a person names: their form, their source, and the errors that help to read them."""

import csv
import gzip
import json
import os
import re
import shlex
import sys
import tracemalloc
from io import BytesIO, TextIOWrapper
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vocabgap as vg
from builders.command import vocabgap
from builders.manual import page, there
from builders.steps import steps
from vocabgap.errors import InvalidInputError, VocabgapError
from vocabgap.files.budget import MIB, Budget
from vocabgap.ingest.decoding import NATIVE_FIELDS
from vocabgap.ingest.formats import Content, Form, row_blocks
from vocabgap.ingest.scanning import Scan, scan

__all__ = ["there"]  # a fixture
TABLE = 'need,when,tools\nrotate a layer,2026-06-02,"crop; tilt"\n"blend ""hard""\ntwo layers",,\ntorn,1\n'
CALLS = '{"call": {"tool": "rotate_layer"}}\n{"call": {"tool": "blend_layers"}}\n'
WISHES = [{"why": "rotate a layer"}, 5, {"why": "blend two layers", "meta": {"run": 4711}}]
VIEW = '{"event": "$pageview", "distinct_id": "d", "properties": {}}\n'
EVENT = '{"event": "$mcp_missing_capability", "properties": {"$mcp_intent": "rotate a layer"}}\n'


def files(folder: Path) -> None:
    """Write the files that the manual's table names."""
    texts = {
        "gaps.txt": '{"description": "rotate a layer"}\n{"missing_capability": "blend two layers"}\n',
        "tools.log": CALLS,
        "agent.log": 'ready\n2026-08-01 10:00:00,123 INFO gaps {"description": "rotate a layer"}\n',
        "wishes.json": json.dumps(WISHES, indent=1),
        "export.json": json.dumps({"page": 1, "data": {"items": [WISHES[0], WISHES[2]]}}),
        "wishes.csv": TABLE,
        "hits.tsv": "query\thits\nrotate a layer\t12\nblend two layers\t3\n",
        "events.jsonl": VIEW * 10_000 + EVENT,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "excel.csv").write_bytes(
        "need;when\r\nrotate;\r\nblend;2026-06-02\r\n".encode("utf-16")
    )
    (folder / "wishes.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    pl.DataFrame({"need": ["rotate a layer", "blend two layers"]}).write_parquet(
        folder / "wishes.parquet"
    )


def known_files(folder: Path) -> None:
    """Write a file of each known source."""
    for name, file in FILES.items():
        lines = (line if isinstance(line, str) else json.dumps(line) for line in file["lines"])
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


FILES = json.loads(Path(__file__).parents[1].joinpath("data", "formats.json").read_text("utf-8"))
ROWS = re.findall(r"^\|.*\| `([^`]*)` \| (\d.*) \|$", page("gap-logs"), flags=re.MULTILINE)


@pytest.mark.parametrize(("arguments", "result"), ROWS)
def test_each_row_of_the_manual_gives_its_result(
    arguments: str, result: str, there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(there)
    known_files(there)
    command, _, piped = arguments.partition(" < ")
    if piped:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO((there / piped).read_bytes())))

    message = vocabgap("check", *shlex.split(command)).out

    account = re.search(r"= (\d+) records? .* (\d+) rejects?\b", message)
    assert account is not None
    records, rejects = (int(number) for number in account.groups())
    assert (
        f"{records} record{'s' * (records != 1)}"
        + f", {rejects} reject{'s' * (rejects > 1)}" * bool(rejects)
        == result
    )


def own(tmp_path: Path, content: str | bytes, name: str = "own.dat") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(tmp_path: Path, content: str | bytes, **fields: str) -> Scan:
    return scan(own(tmp_path, content), map=fields or None)


def test_cells_become_values_of_their_fields(tmp_path: Path) -> None:
    content = (
        "description;operations_involved;vocabulary_used;satisfaction;count\n"
        'rotate;" crop ; tilt";"[""a;b""]";-1;4\n\nblend;;;;\n;;;;\n'
    )

    rows = read(tmp_path, content).gaps.sort("line").to_dicts()

    assert [(row["line"], row["byte_offset"]) for row in rows] == [(2, None), (4, None)]
    first, second = rows
    assert (first["operations_involved"], first["vocabulary_used"]) == (["crop", "tilt"], ["a;b"])
    assert (first["satisfaction"], first["count"]) == (-1, 4)
    assert (second["operations_involved"], second["satisfaction"], second["workaround"]) == (
        [],
        None,
        "",
    )


@pytest.mark.parametrize(
    ("content", "line", "reason", "detail"),
    [
        (
            'description,notes\n"two\nlines",x\nonly one\n',
            4,
            "invalid_row",
            "expected 2 cells, found 1",
        ),
        ('description,notes\nx,"open\nrotate,y\n', 2, "invalid_row", "a quote is not closed"),
        ('description,notes\n"a"b,c\nrotate,y\n', 2, "invalid_row", "not a row of a table"),
        (b"description,notes\nf\xe9e,x\nrotate,y\n", 2, "invalid_utf8", "expected UTF-8"),
        (
            f"description,notes\n{'x' * (1 << 21)},y\nrotate,y\n",
            2,
            "too_long",
            "expected at most 1,048,576 bytes",
        ),
        (
            'description,notes\n"' + "\x01" * 200_000 + '",y\nrotate,y\n',
            2,
            "too_long",
            "expected at most",
        ),
    ],
)
def test_a_bad_row_is_rejected_where_it_begins(
    content: str | bytes, line: int, reason: str, detail: str, tmp_path: Path
) -> None:
    scanned = read(tmp_path, content)

    first = scanned.rejects.row(0, named=True)
    assert (first["line"], first["reason"]) == (line, reason)
    assert detail in first["detail"]
    assert scanned.gaps["description"].to_list()[-1:] == [
        "rotate" if "rotate" in str(content) else "two\nlines"
    ]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)


@given(
    st.lists(st.tuples(cells.filter(str.strip), cells), min_size=1, max_size=8),
    st.sampled_from(",;\t"),
)
def test_what_python_writes_as_csv_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], delimiter: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([("need", "why"), *rows])

    gaps = scan(path, map={"missing_capability": "need", "notes": "why"}).gaps.sort("line")

    assert gaps["missing_capability"].to_list() == [need for need, _ in rows]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("notes,description,description\nx,a,b\n", "the header has the name 'description' 2 times"),
        (b"PK\x03\x04\0\0", "a workbook or an archive"),
        (b"\0\1\2abc", "the content is binary"),
        ('{"a": [{"q": 1}], "b": {"c": [{"q": 2}]}}', "has 2 lists of objects: /a/*, /b/c/*"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_is_an_error(
    content: str | bytes, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        read(tmp_path, content)


def test_a_line_for_excel_tells_the_delimiter(tmp_path: Path) -> None:
    scanned = read(tmp_path, "sep=;\ndescription;notes\nrotate, tilt;x\n")

    assert scanned.gaps.select("description", "line").rows() == [("rotate, tilt", 3)]


@pytest.mark.parametrize("content", ["", "\n\n", "description,notes\n", "[]"])
def test_an_empty_file_has_no_line(content: str, tmp_path: Path) -> None:
    summary = scan(own(tmp_path, content, "own.csv")).summary

    assert (summary.files, summary.lines, summary.rejects) == (1, 0, 0)


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '[{"description": "a"},\n{"descr', b"PAR1 torn PAR1"]
)
def test_a_broken_document_is_one_unread_file(content: str | bytes, tmp_path: Path) -> None:
    summary = read(tmp_path, content).summary

    assert (summary.lines, summary.unreadable) == (0, 1)


@pytest.mark.parametrize("cut", [100, 120, 140, 160])
def test_the_cut_row_of_a_damaged_table_does_not_count(tmp_path: Path, cut: int) -> None:
    rows = "".join(f"rotate,{each * 7919} was left as it was\n" for each in range(2_000))
    packed = gzip.compress(f"description,notes\n{rows}".encode())
    found = scan(own(tmp_path, packed[:-cut]))

    assert found.rejects["reason"].to_list()[-1] == "unreadable_file"
    assert found.records.height > 0
    assert found.records["notes"].str.ends_with("as it was").all()


def test_a_packed_file_expands_no_further_than_allowed(tmp_path: Path) -> None:
    bomb = own(
        tmp_path, gzip.compress(b"description,notes\n" + b"rotate%b,x\n" % (b"x" * 1000) * 1_500)
    )

    summary = scan(bomb, max_expanded_mib=1).summary

    assert summary.reasons == {"expands_too_far": 1, "invalid_row": 1}
    assert summary.records + summary.duplicates == summary.lines - 1


def test_parquet_gives_nested_values_and_times(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {
            "why": ["rotate", "blend"],
            "call": [{"at": "2026-06-02T09:00:00Z", "tools": ["crop"]}, None],
            "photo": [b"\xff", b"\xfe"],
        }
    )
    table.write_parquet(tmp_path / "own.dat")

    fields = {"description": "why", "timestamp": "call.at", "operations_involved": "call.tools"}
    rows = scan(tmp_path / "own.dat", map=fields).gaps.to_dicts()
    binary = scan(tmp_path / "own.dat", map={"description": ["photo", "why"]}).rejects

    assert rows[0]["operations_involved"] == ["crop"]
    assert (rows[0]["timestamp"].year, rows[1]["timestamp"]) == (2026, None)
    assert "column 'photo': expected text, found binary data" in binary["detail"][0]


def test_keys_are_listed_and_the_proposed_command_works(there: Path) -> None:
    lines = [
        {"reason": f"no way to rotate \u202e{number}", "tool": "rotate", "ts": 1787220000}
        for number in range(3)
    ]
    own(there, "\n".join(map(json.dumps, lines)), "agent.log")

    result = vocabgap("check", "agent.log")

    assert result.code == 2
    assert r"reason (3, \"no way to rotate \u202e0\")".replace('\\"', '"') in result.err
    command = shlex.split(re.findall(r"`vocabgap (.*?)`", result.err)[0])
    fields = "--map description=reason --map missing_capability=tool --map timestamp=ts"
    assert shlex.join(command[1:]) == f"agent.log {fields}"
    assert vocabgap(*command, "--embedder", "none").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--map", "descripton=why"], "did you mean 'description'?"),
        (["--map", "description=whi"], "did you mean 'why'?"),
        (["--map", "why=description"], "did you mean --map description=why?"),
        (["--map", "plot=why"], "--map plot: a record has no such field"),
        (["--map", "timestamp=why"], "expected the path of"),
        (["--map", "description"], "expected FIELD=PATH"),
        (["--source", "postho"], "did you mean 'posthog'?"),
    ],
)
def test_a_wrong_map_or_source_is_an_error(options: list[str], message: str, there: Path) -> None:
    own(there, json.dumps(WISHES))

    result = vocabgap("check", "own.dat", *options)

    assert result.code == 2
    assert message in result.err


def test_several_files_may_have_different_keys(there: Path) -> None:
    own(there, '{"why": "rotate a layer"}\n', "a.log")
    own(there, '{"need": "blend two layers"}\n', "b.log")
    own(there, '{"description": "crop a layer"}\n', "c.log")

    fields = ["--map", "description=why", "--map", "description=need"]
    result = vocabgap("check", "a.log", "b.log", "c.log", *fields)

    assert result.out.startswith("3 lines in 3 logs = 3 records")
    assert (
        "no object of 'c.log' has 'need', which `map` names"
        in vocabgap("check", "c.log", *fields).err
    )


def test_a_setting_reads_the_unknown_files_of_a_folder_only(there: Path) -> None:
    own(there, '{"description": "warm fur"}\n', "vocabulary_gaps.jsonl")
    own(there, TABLE, "wishes.csv")
    own(there, '{"name": "package"}', "package.json")

    before = vg.scan(".", settings=vg.load_settings().scan).summary
    Path("vocabgap.toml").write_text(
        '[ingest]\nmap = {description = ["need", "why"]}\n', encoding="utf-8"
    )
    after = vg.scan(".", settings=vg.load_settings().scan).summary

    assert (before.files, before.records) == (1, 1)
    assert (after.files, after.records, after.rejects) == (2, 3, 1)


def test_the_files_of_vocabgap_itself_are_no_logs(there: Path) -> None:
    own(there, '{"reason": "rotate a layer"}\n', "own.jsonl")
    own(there, '{"source_path": "a", "sha256": "b", "line": 1, "reason": "torn"}\n', "known.jsonl")
    fields = ["--map", "description=reason", "--baseline", "known.jsonl"]

    codes = [vocabgap("report", ".", *fields, "--embedder", "none").code for _ in range(2)]
    message = vocabgap("check", ".", *fields).out

    assert codes == [0, 0]
    assert message.startswith("1 line in 1 log")


def test_a_folder_without_a_known_log_names_its_other_files(there: Path) -> None:
    own(there, TABLE, "wishes.csv")
    own(there, '{"name": "package"}', "package.json")

    message = vocabgap("check", ".").err

    assert "nothing known in 2 files: package.json, wishes.csv;" in message
    assert "`vocabgap report package.json` tells its keys" in message


def test_a_hidden_folder_with_a_log_is_named(there: Path) -> None:
    (there / ".agent").mkdir()
    own(there / ".agent", '{"missing_capability": "a lasso"}\n', "gaps.jsonl")

    assert (
        "--hidden also reads hidden folders, with .agent/gaps.jsonl" in vocabgap("check", ".").err
    )


def test_standard_input_is_a_root_that_leaves_nothing_behind(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (there / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(there / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(CALLS.encode())))

    result = vocabgap("report", "-", "--map", "missing_capability=call.tool", "--embedder", "none")

    assert result.code == 0
    manifest = json.loads(Path("out/run.json").read_text(encoding="utf-8"))
    assert manifest["parameters"]["paths"]["roots"] == ["-"]
    assert [(log["repo_slug"], log["source_path"]) for log in manifest["inputs"]] == [
        ("stdin", "-")
    ]
    assert [*(there / "tmp").iterdir()] == []


def test_a_terminal_is_no_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = TextIOWrapper(BytesIO())
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)

    result = vocabgap("list", "-")

    assert (result.code, result.err.count("\n")) == (2, 2)


@pytest.mark.parametrize("place", ["/dev/null", "pipe"])
def test_a_device_or_a_pipe_is_no_log(place: str, there: Path) -> None:
    os.mkfifo(there / "pipe")

    result = vocabgap("check", place)

    assert result.code == 2
    assert "not a regular file" in result.out


def test_a_long_table_takes_no_more_memory() -> None:
    def peak(chunks: int) -> int:
        content = (
            b"description,notes\n" if not number else b"rotate,x\n" * 2_000
            for number in range(chunks)
        )
        tracemalloc.start()
        try:
            for _ in row_blocks(Content(Form.TABLE), content, NATIVE_FIELDS, Budget(MIB)):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(8) < 1.2 * peak(3)


def test_many_columns_with_one_name_each_twice_are_linear_work() -> None:
    def work(number: int) -> int:
        header = ",".join(f"c{each},c{each}" for each in range(number))
        content = [f"{header}\n{','.join('x' * 2 * number)}\n".encode()]
        return steps(
            lambda: [*row_blocks(Content(Form.TABLE), content, NATIVE_FIELDS, Budget(MIB))]
        )

    assert work(160) < 2.5 * work(80)


@given(st.binary(max_size=300))
def test_any_content_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.dat"
    path.write_bytes(content)
    try:
        summary = scan(path).summary
    except VocabgapError:
        return
    assert (
        summary.lines == summary.records + summary.duplicates + summary.superseded + summary.rejects
    )


@pytest.mark.parametrize(
    ("content", "options", "found"),
    [
        (f"{VIEW}{EVENT}", [], "rotate a layer"),
        (f"{VIEW}{EVENT}", ["--source", "posthog"], "rotate a layer"),
        ('{"description": "blend two layers"}\n', [], "blend two layers"),
        ('{"event": {"text": "crop"}, "intent": "blend"}\n', [], "crop"),
        (EVENT, ["--map", "description=event"], "$mcp_missing_capability"),
    ],
)
def test_known_content_and_options_come_before_the_map_of_the_settings(
    content: str, options: list[str], found: str, there: Path
) -> None:
    own(there, content)
    Path("vocabgap.toml").write_text(
        '[ingest]\nmap = {description = "event.text"}\n', encoding="utf-8"
    )

    result = vocabgap("list", "own.dat", *options)

    assert (result.code, found in result.out) == (0, True), result.err


@pytest.mark.parametrize(
    ("table", "fields"),
    [
        (
            'Search Term,Searches\nvegan,"1,041"\n',
            "'missing_capability=Search Term' --map count=Searches",
        ),
        ("term,number_of_users\nvegan,7\n", "missing_capability=term --map count=number_of_users"),
        (
            "need;why;who\nturn;it fits;ana\n",
            "description=why --map missing_capability=need --map session_id=who",
        ),
        ("feedback,comment\nI want to turn,seen\n", "description=feedback"),
        ("q;seit\nvegan;02.06.2026\n", "missing_capability=q --map timestamp=seit"),
        (
            "seit;c\n02.06.2026;vegan soup\n03.06.2026;vegan soup\n",
            "description=c --map timestamp=seit",
        ),
        (
            "Wish,Last asked for\nturn,2026-06-02\n",
            "description=Wish --map 'timestamp=Last asked for'",
        ),
        ("wish,run_id,session_note\nturn,r1,none\n", "description=wish --map session_id=run_id"),
        ("body,remark\n2026-06-02T09:00Z,turn it\n", "description=remark --map timestamp=body"),
        ("text_id,remark\nab-12,turn it\n", "description=remark"),
    ],
)
def test_the_proposal_goes_by_names_and_values(table: str, fields: str, there: Path) -> None:
    own(there, table, "own.csv")

    message = vocabgap("check", "own.csv").err

    assert f"`vocabgap report own.csv --map {fields}`" in message


def test_a_count_may_have_signs_between_its_digits(tmp_path: Path) -> None:
    counts = ("1,041", "1\u202f041", "1'041", "1041")
    table = "".join(f'vegan\t"{written}"\n' for written in counts)
    objects = "".join(json.dumps({"q": "vegan", "n": written}) + "\n" for written in counts)

    for content in (f"q\tn\n{table}", objects):
        gaps = scan(own(tmp_path, content), map={"description": "q", "count": "n"}).gaps
        assert gaps["count"].to_list() == [1041] * 4


def test_the_proposal_repeats_all_roots_and_the_pipe(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.log", "b.log"):
        own(there, '{"why": "rotate a layer"}\n', name)
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b'{"why": "rotate a layer"}\n')))

    several, piped = vocabgap("check", "a.log", "b.log").err, vocabgap("check", "-").err

    assert "\n  try `vocabgap report a.log b.log --map description=why`\n" in several
    assert "in standard input says" in piped
    assert "\n  try `… | vocabgap report - --map description=why`\n" in piped


def test_a_setting_reads_logs_with_json_but_no_prose(there: Path) -> None:
    own(there, '{"why": "rotate a layer"}\n', "agent.log")
    own(there, "Read me first, please.\n", "readme.txt")
    Path("vocabgap.toml").write_text('[ingest]\nmap = {description = "why"}\n', encoding="utf-8")

    assert vocabgap("check", ".").out.startswith("1 line in 1 log = 1 record")


@pytest.mark.parametrize("command", ["check", "report"])
def test_dates_that_cannot_be_read_are_told(command: str, there: Path) -> None:
    own(there, "wish,on\nturn,06/02/2026\ncrop,06/03/2026\n", "us.csv")

    message = vocabgap(command, "us.csv", "--map", "description=wish", "--map", "timestamp=on").err

    assert (
        "timestamp (on): 2 of 2 cannot be read, such as '06/02/2026'; expected 2026-06-02, or a"
        " format behind the path, as in 'timestamp=on|%d/%m/%Y'" in message
    )


@pytest.mark.parametrize(
    ("written", "date_format", "day"),
    [
        ("03/09/2026", "%d/%m/%Y", "2026-09-03"),
        ("03/09/2026 4:05 PM", "%m/%d/%Y", "2026-03-09"),
        ("03.09.26", "%d.%m.%y", "2026-09-03"),
        ("2026-09-03T00:00:00Z", "%d/%m/%Y", "2026-09-03"),  # another notation is still read
    ],
)
def test_a_format_behind_the_path_reads_dates_of_several_meanings(
    written: str, date_format: str, day: str, there: Path
) -> None:
    own(there, f"wish,on\nturn,{written}\n", "own.csv")
    path = f"on|{date_format}"
    Path("vocabgap.toml").write_text(
        f'[ingest]\nmap = {{description = "wish", timestamp = "{path}"}}\n', encoding="utf-8"
    )

    by_option = vocabgap(
        "--json", "list", "own.csv", "--map", "description=wish", "--map", f"timestamp={path}"
    )
    by_setting = vocabgap("--json", "list", "own.csv")

    gap, _ = map(json.loads, by_option.out.splitlines())
    assert gap["timestamp"][:10] == day
    assert by_setting.out == by_option.out


@pytest.mark.parametrize(
    "wrong", ["%d.%m", "%Q.%m.%Y", "%x", "%d.%m.%Y %Z", "%d.%d.%m.%Y", "%d.%m.%Y %p %p"]
)
def test_a_format_that_gives_no_day_is_refused_at_once(wrong: str, there: Path) -> None:
    own(there, "wish,on\nturn,03/09/2026\n", "own.csv")

    answer = vocabgap(
        "check", "own.csv", "--map", "description=wish", "--map", f"timestamp=on|{wrong}"
    )

    assert (answer.code, answer.out) == (2, "")
    assert f"--map timestamp: '{wrong}' is not the format of a date" in answer.err
    assert "%d.%m.%Y" in answer.err


WISHES_OF_USERS = {
    "export.csv": (
        ("Nr;Wunsch;Datum;Projekt\n1;PDF der Karte exportieren;17.09.2026;Atlas\n"
        "2;PDF der Karte exportieren;03.09.2026;Web\n3;Ebenen drehen können;04.09.2026;Atlas\n"),
        ["2026-09-03", "2026-09-17"],
    ),
    "export.tsv": (
        ("id\tsuggestion\tdate\tproject\n1\texport the map as PDF\t9/17/2026 4:05 PM\tatlas\n"
        "2\texport the map as PDF\t9/3/2026 4:05 PM\tweb\n3\trotate a layer\t9/4/2026 9:00 AM\tatlas\n"),
        ["2026-09-03", "2026-09-17"],
    ),
    "export.json": (
        json.dumps([
            {"author": {"login": login}, "feedback": need, "created": {"$date": {"$numberLong": time}},
             "project": {"name": "atlas"}}
            for login, need, time in (
                ("kim", "export the map as PDF", "1785578400000"), ("lee", "rotate a layer", "1785578400000"),
                ("lee", "export the map as PDF", "1785664800000"),
            )
        ]),
        ["2026-08-01", "2026-08-02"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WISHES_OF_USERS)
def test_two_commands_give_a_ranking_with_dates_and_sources(name: str, there: Path) -> None:
    content, days = WISHES_OF_USERS[name]
    own(there, content, name)

    proposed = re.search(r"try `vocabgap ([^`]*)`", vocabgap("check", name).err)
    assert proposed is not None
    answer = vocabgap(*shlex.split(proposed[1]), "--now", "last")

    assert answer.code == 0, answer.err
    ranked = pl.read_parquet(there / "out" / "capabilities.parquet").sort("rank")
    first = ranked.row(0, named=True)
    assert "PDF" in first["label"]
    assert [f"{first[key]:%Y-%m-%d}" for key in ("first_seen", "last_seen")] == days
    gaps = pl.read_parquet(there / "out" / "gaps.parquet")
    assert gaps["image_id"].n_unique() == (1 if name == "export.json" else 2)
