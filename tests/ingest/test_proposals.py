"""What is proposed for tables and logs as other programs write their headers; the rows are our own."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from vocabgap.errors import InvalidInputError
from vocabgap.ingest.proposing import Keys
from vocabgap.ingest.scanning import scan

NEEDS = (
    "Fold a map along its creases",
    "Print two pages on one sheet",
    "Undo the last three changes",
    "Share a board with a guest",
    "Search inside attached files",
)
TERMS = ("fold map", "print two pages", "undo", "guest link", "search files")
ONES = (
    "Yes please",
    "It would help us each week",
    "We do this by hand today",
    "See above",
    "A must",
)
VALUES: dict[str, tuple[Any, ...]] = {
    "need": NEEDS,
    "term": TERMS,
    "long": tuple(f"{need}, because it costs us an hour a day." for need in NEEDS),
    "remark": ONES,
    "date": tuple(f"2026-09-{day:02d}T08:00:00Z" for day in (3, 4, 9, 21, 28)),
    "day": ("17/09/2026", "18/09/2026", "01/09/2026", "02/09/2026", "30/09/2026"),
    "unix": (1789372800, 1789372900, 1789373000, 1789373100, 1789373200),
    "person": ("ana", "ben", "cleo", "ana", "dora"),
    "mail": (
        "ana@example.org",
        "ben@example.org",
        "cleo@example.org",
        "ana@example.org",
        "d@example.org",
    ),
    "id": (4711, 4712, 4713, 4714, 4715),
    "number": (3, 12, 1, 7, 2),
    "type": ("Story", "Bug", "Story", "Story", "Task"),
    "status": ("open", "done", "open", "open", "planned"),
    "outcome": ("ok", "ok", "error", "ok", "ok"),
    "role": ("user", "assistant", "user", "assistant", "tool"),
    "place": ("Desk", "Desk", "Map room", "Desk", "Map room"),
    "tool": ("read_map", "read_map", "fold_map", "read_map", "dim_map"),
    "share": ("12%", "3%", "1%", "8%", "2%"),
    "link": tuple(f"https://example.org/{number}" for number in range(5)),
}
# The headers of exports, with the kind of each column, and what is to be proposed.
EXPORTS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "a board of wishes": (
        {"Board": "place", "Title": "need", "Details": "long", "Author Name": "person", "Votes": "number",
         "Status": "status", "Created": "date"},
        {"missing_capability": "Title", "description": "Details", "count": "Votes", "timestamp": "Created",
         "session_id": "Author Name", "image_id": "Board"},
    ),
    "an issue tracker": (
        {"Summary": "need", "Issue key": "id", "Issue Type": "type", "Status": "status",
         "Project name": "place", "Reporter": "person", "Created": "date", "Updated": "date",
         "Votes": "number", "Description": "long"},
        {"description": "Description", "count": "Votes", "timestamp": "Created",
         "session_id": "Reporter", "image_id": "Project name"},
    ),
    "a help desk": (
        {"Id": "id", "Subject": "need", "Requester": "person", "Status": "status", "Created at": "date"},
        {"missing_capability": "Subject", "timestamp": "Created at", "session_id": "Requester"},
    ),
    "a form": (
        {"Timestamp": "date", "Email Address": "mail", "What do you miss most?": "need"},
        {"description": "What do you miss most?", "timestamp": "Timestamp"},
    ),
    "search terms with clicks": (
        {"Top queries": "term", "Clicks": "number", "Impressions": "number", "CTR": "share"},
        {"missing_capability": "Top queries", "count": "Impressions"},
    ),
    "site search": (
        {"search": "term", "count": "number", "nbHits": "number"},
        {"missing_capability": "search", "count": "count"},
    ),
    "notes of customers": (
        {"title": "need", "content": "long", "user_email": "mail", "source": "place", "tags": "type",
         "created_at": "date"},
        {"missing_capability": "title", "description": "content", "timestamp": "created_at",
         "session_id": "user_email", "image_id": "source"},
    ),
    "a team's chat": (
        {"type": "type", "user": "person", "text": "need", "ts": "unix", "client_msg_id": "id"},
        {"description": "text", "timestamp": "ts", "session_id": "user"},
    ),
    "a server's chat": (
        {"AuthorID": "id", "Author": "person", "Date": "day", "Content": "need", "Attachments": "link"},
        {"description": "Content", "timestamp": "Date|%d/%m/%Y", "session_id": "Author"},
    ),
    "a log of calls": ({"tool": "tool", "status": "outcome", "duration_ms": "number", "ts": "date"}, {}),
    "a conversation": ({"conversation_id": "id", "role": "role", "content": "need"}, {}),
    "numbers of results": (
        {"query": "term", "results": "number", "date": "date"},
        {"missing_capability": "query", "timestamp": "date"},
    ),
    "nothing that is known": ({"a": "need", "b": "long"}, {}),
    "a poll in German": (
        {"Datum": "day", "Kunde": "person", "Wunsch": "need", "Stimmen": "number"},
        {"description": "Wunsch", "count": "Stimmen", "timestamp": "Datum|%d/%m/%Y", "session_id": "Kunde"},
    ),
    "work items": (
        {"ID": "id", "Work Item Type": "type", "Title": "need", "Assigned To": "person", "State": "status"},
        {"missing_capability": "Title"},
    ),
    "reviews of an app": (
        {"author": "person", "title": "remark", "review": "long", "rating": "number", "date": "date",
         "version": "share"},
        {"missing_capability": "title", "timestamp": "date", "session_id": "author"},
    ),
}  # fmt: skip


def objects(columns: dict[str, str]) -> list[dict[str, Any]]:
    rows = zip(*(VALUES[kind] for kind in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


@pytest.mark.parametrize("export", EXPORTS)
def test_the_keys_of_others_are_proposed_for_what_they_hold(export: str) -> None:
    columns, expected = EXPORTS[export]

    assert Keys.of(objects(columns)).proposal() == expected


@pytest.mark.parametrize(("above", "expected"), [("ab", {"description": "a.b.wish"}), ("abc", {})])
def test_keys_are_proposed_down_to_the_third_object(above: str, expected: dict[str, str]) -> None:
    wishes: list[dict[str, Any]] = [{"wish": need} for need in NEEDS]
    for key in reversed(above):
        wishes = [{key: wish} for wish in wishes]

    assert Keys.of(wishes).proposal() == expected


def test_two_commands_rank_a_table_with_its_dates_and_people(tmp_path: Path) -> None:
    table = io.StringIO()
    writer = csv.writer(table, delimiter=";")
    writer.writerow(("Datum", "Kunde", "Wunsch"))
    writer.writerows(
        (f"{day}.09.2026", name, need)
        for day, name, need in zip((17, 18, 19, 20, 21), VALUES["person"], NEEDS, strict=True)
    )
    path = tmp_path / "wishes.csv"
    path.write_text(table.getvalue(), encoding="utf-8")

    with pytest.raises(InvalidInputError) as caught:
        scan(path)
    fields = {"description": "Wunsch", "timestamp": "Datum", "session_id": "Kunde"}
    assert all(f"{field}={key}" in caught.value.hint for field, key in fields.items())
    assert 'frequent wordings: "Fold a map' in caught.value.hint

    records = scan(path, map=fields).records
    assert sorted(records["timestamp"].dt.day()) == [17, 18, 19, 20, 21]
    assert records["session_id"].n_unique() == 4


def test_a_list_with_nested_people_is_read_with_them(tmp_path: Path) -> None:
    path = tmp_path / "wishes.json"
    wishes = [
        {"title": need, "author": {"id": number, "name": name, "role": "member"}, "at": day}
        for number, (need, name, day) in enumerate(
            zip(NEEDS, VALUES["person"], VALUES["date"], strict=True)
        )
    ]
    path.write_text(json.dumps(wishes), encoding="utf-8")

    with pytest.raises(InvalidInputError) as caught:
        scan(path)

    fields = ("missing_capability=title", "timestamp=at", "session_id=author.name")
    assert all(field in caught.value.hint for field in fields)
