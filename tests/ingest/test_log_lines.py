"""Lines of a log have a time, a level or a name before their JSON, which is read as if it stood alone."""

import json
from pathlib import Path

import pytest

from builders.command import vocabgap
from vocabgap.ingest import formats
from vocabgap.ingest.formats import is_log

NEED = '{"missing_capability": "reed mask"}'
AT = "2026-08-01T10:00:00Z"
LINES = {
    "of Python": (f"2026-08-01 10:00:00,123 INFO gaps {NEED}", "2026-08-01T10:00:00.123Z"),
    "a level": (f"[INFO] agent: {NEED}", None),
    "in brackets": (f"[2026-08-01 10:00:00] [info] {NEED}", AT),
    "syslog": (f"<14>Aug  1 10:00:00 host agent[12]: {NEED}", None),
    "docker logs": (f"2026-08-01T10:00:00Z {NEED}", AT),
    "a container": (f"2026-08-01T10:00:00.000Z stdout F {NEED}", AT),
    "compose": (f"app-1  | {NEED}", None),
    "with tabs": (f"2026-08-01T12:00:00+02:00\tINFO\tdone\t{NEED}", AT),
    "Apache": (f"10.0.0.1 - - [01/Aug/2026:12:00:00 +0200] {NEED}", AT),
    "its own time": (
        f'2026-07-01 09:00:00 INFO {{"timestamp": "{AT}", "missing_capability": "reed mask"}}',
        AT,
    ),
}


@pytest.mark.parametrize(("line", "time"), LINES.values(), ids=LINES)
@pytest.mark.parametrize("name", ["agent.log", "vocabulary_gaps.jsonl"])
def test_the_object_behind_a_prefix_is_a_record(
    line: str, time: str | None, name: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    file.write_text(f"{line}\n{line.replace('reed mask', 'fog')}\n", encoding="utf-8")

    *gaps, result = map(json.loads, vocabgap("--json", "list", file).out.splitlines())

    assert {gap["missing_capability"] for gap in gaps} == {"reed mask", "fog"}
    assert result["totals"]["last"] == (time and time.replace(".123Z", ".123000Z"))


def test_other_lines_are_passed_over_and_a_broken_record_is_a_reject(tmp_path: Path) -> None:
    file = tmp_path / "app.log"
    file.write_text(
        "Starting, please wait\n"
        f"2026-08-01 10:00:00 INFO gaps {NEED}\n"
        '2026-08-01 10:00:01 DEBUG http {"status": 200}\n'
        "2026-08-01 10:00:02 DEBUG set {1, 2}\n"
        '2026-08-01 10:00:03 DEBUG torn {"stat\n'
        '2026-08-01 10:00:04 INFO gaps {"missing_capability": "reed\n',
        encoding="utf-8",
    )

    answer = vocabgap("check", file)

    assert (
        "2 lines in 1 log = 1 record + 0 duplicates + 0 superseded + 1 reject; 4 lines passed over"
        in answer.out
    )
    assert "app.log:6: invalid_json" in answer.out


@pytest.mark.parametrize(
    ("line", "is_read"),
    [
        (f"{AT} [svc] a {{b}} {NEED}", True),
        (f'{AT} [svc] said "x" {NEED}', True),
        (f"{AT} [svc] done {NEED} in {{5}} ms", True),
        (f"{AT} {NEED} {NEED}", False),
        (f'{AT} {{"status": 200}} {NEED}', False),
        (f"{AT} {'x' * 300} {NEED}", False),
        (f"{AT} said={json.dumps(NEED)}", False),
    ],
)
def test_no_need_in_the_json_of_a_line_vanishes(line: str, is_read: bool, tmp_path: Path) -> None:
    file = tmp_path / "app.log"
    file.write_text(f"{AT} INFO {NEED.replace('reed mask', 'fog')}\n{line}\n", encoding="utf-8")

    answer = vocabgap("check", file)

    assert f"2 lines in 1 log = {2 if is_read else 1} record" in answer.out
    assert ("app.log:2: invalid_json: expected one object per line" in answer.out) is not is_read


@pytest.mark.parametrize(
    "head",
    [
        "", "Read me first.\n", "need,date\nturn,2026-06-02\n", 'id\tpayload\n1\t{"need": "fog"}\n',
        'id;payload\n1;{"need": "fog"}\n',
        '[{"need": "fog"},\n{"need": "sky"}]\n', '[\n  {"need": "fog"}\n]\n',
        '{"need": "fog"}\n', '{\n  "log": {"need": "fog"}\n}\n', 'id,payload\n1,"{""need"": ""fog""}"\n',
        'fn main() {\n  call({"a": 1});\n}\n', 'a,b\n"x, y",{"need": "fog"}\n',
    ],
)  # fmt: skip
def test_tables_documents_and_prose_are_no_log(head: str) -> None:
    assert not is_log(head.encode())


@pytest.mark.parametrize("unit", ["{", '{"', '{"a":', "[", '"', "{ ", "[x] "])
def test_the_json_of_a_line_is_looked_for_once(
    unit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    class Counting:
        def raw_decode(self, text: str, at: int) -> tuple[object, int]:
            begun.append(at)
            return json.JSONDecoder().raw_decode(text, at)

    monkeypatch.setattr(formats, "DECODER", Counting())
    lines = [f"2026-08-01 10:00:00 INFO {unit * 100_000}\n", f"2026-08-01 10:00:00 INFO {NEED}\n"]
    file = tmp_path / "app.log"
    file.write_text("".join(lines), encoding="utf-8")

    assert "1 record" in vocabgap("check", file).out
    assert len(begun) <= 3 * len(lines)  # by the form, the choice and the reading
