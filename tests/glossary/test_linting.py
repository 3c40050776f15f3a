"""The linter: what it finds in files, where, and what it passes over."""

from pathlib import Path

import pytest

from vocabgap.glossary.linting import Finding, Linter, Rule, files_within, github
from vocabgap.glossary.loading import GlossaryFiles

SEED = Path(__file__).with_name("linted.yaml").read_text(encoding="utf-8")


MARKS = [
    "`", "` ``", "](", "[a](", "<", "<a ", "<!--", "www.", "a@", "---\n", "> ", "- ", "x", "a.",
    "/a", "_a ", "{a", ".. a", "- a::\n\n", ".. |a", ":a", ".. a::\n",
]  # fmt: skip


def found(tmp_path: Path, text: str, suffix: str = ".md", seed: str = SEED) -> list[Finding]:
    folder = tmp_path / "glossary"
    folder.mkdir(exist_ok=True)
    (folder / "team_domain.yaml").write_text(seed, encoding="utf-8")
    linter = Linter(GlossaryFiles(folder, folder / "events").load())
    return list(linter.findings(f"a{suffix}", text, suffix))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("two work units", "use 'work package' instead of 'work units'"),
        ("a workUnit, so to say", "use 'work package' instead of 'workUnit'"),
        ("a work\nunit", "use 'work package' instead of 'work unit'"),
        ("a work-package", "use 'work package' instead of 'work-package'"),
        ("a ticket", "use 'work package' or 'issue' instead of 'ticket'"),
        ("die Aufgabe", "use 'work package' instead of 'Aufgabe'"),
        ("these blobs", "'blobs' is deprecated; it meant: Whatever it was"),
        ("a crate", "'crate' is deprecated; use 'work package' instead"),
        ("lift it, lift it", "'lift' may mean: Raise the shadows; Take out a stain"),
    ],
)
def test_what_is_not_to_be_said(text: str, message: str, tmp_path: Path) -> None:
    assert [each.message for each in found(tmp_path, text)] == [message]
    assert [each.message for each in found(tmp_path, text, ".txt")] == [message]


@pytest.mark.parametrize(
    "text",
    [
        "a work package, and two workPackages",
        "a bug is a term of its own",
        "a work unit test is a longer term",
        "a draught, for which only a draft speaks",
        "# Work\n\nUnit by unit",
        "- work\n- unit",
        "of work. Unit by unit",
        "a `ticket`, a ``tick ` ticket``, and ` ticket `",
        "work `and` unit",
        "```\nticket\n```\n~~~text\nticket\n~~~",
        "so:\n\n    ticket\n",
        "1. so:\n\n   ```\n   ticket\n   ```\n",
        "---\ntitle: a ticket\n---\n",
        "+++\ntitle = 'a ticket'\n+++\n",
        "https://example.org/ticket?a=ticket and <https://ticket.example.org> or www.ticket.org",
        "[it](docs/ticket.md 'a ticket') and [it][ticket]\n\n[ticket]: ticket.md\n",
        "mail ticket@example.org or @ticket, at ticket.example.org:80, //cdn/ticket, localhost:80/ticket",
        r"/home/ticket/a, ~/ticket, ../ticket, docs/ticket.md, C:\ticket\a, $TICKET, ${ticket}, %TICKET%",
        r"\\a\ticket\b, C:\my files\ticket, /ticket, src/ticket/, a/ticket/b, ticket.tar.gz, #ticket",
        "a <code>ticket</code> or <KBD class='a'>ticket</KBD>, 00:1a:2b:3c:4d:5e",
        "<code>a <b>ticket</b></code>, <i title='> ticket'>it</i>, {{ ticket }}, {'ticket': {1: 'ticket'}}",
        "ticket() a.ticket ticket.Ticket Ticket::new ticket->id ticket++ ticket=1 x=>ticket --ticket .ticket",
        "ticket_id ticketId TICKET-123 ticket:latest ticket==1 x-of-a-ticket App.ticket(A.java:5) [^ticket]",
        '<div class="ticket">\nticket\n</div>\n',
        'so <span title="ticket">it</span> is',
        "a ticket <!-- vocabgap-ignore -->",
        "a ticket <!-- vocabgap: ignore -->",
        "<!-- vocabgap-ignore -->\na ticket",
        "<!-- a ticket -->",
    ],
)
def test_what_is_passed_over_in_markdown(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, text) == []


@pytest.mark.parametrize("suffix", [".md", ".txt"])
@pytest.mark.parametrize(
    ("listed", "text", "written"),
    [
        (
            "log in",
            "to log in, LOG IN or log\nin is a login or log-in, two logins",
            ["log in", "LOG IN", "log in"],
        ),
        ("set up", "set up the setup, the Set-Up and set‐ups", ["set up"]),
        ("roll out", "roll out a rollout", ["roll out"]),
        ("login", "a login, log-in and logIn", ["login", "log-in", "logIn"]),
        ("work unit", "a work-unit, workUnit and workunit", ["work-unit", "workUnit"]),
        ("log in", "to log, in a log. In log\n\nin", []),
        ("carpet", "the car pet of the carpet's car-pets", ["carpet", "car-pets"]),
        (
            "jeu de données",
            "Un jeu de données, JEU DE DONNÉES",
            ["jeu de données", "JEU DE DONNÉES"],
        ),
        ("tâche", "les tâches d’une tâche", ["tâches", "tâche"]),
        ("user's guide", "a user's guide, two user’s guides", ["user's guide", "user’s guides"]),
        ("e.g.", "so (e.g., this) or e.g.: that", ["e.g.", "e.g."]),
        ("node.js", "Node.js, in node.js. Of a node. JS is, /srv/node.js", ["Node.js", "node.js"]),
        ("node", "in node.js, a node/leaf; node(s), node—node…", ["node", "node", "node", "node"]),
        ("child", "two children and a child’s", ["children", "child"]),
        ("lens", "the **lens**, _lens_, __lens__ and a <b>lens</b> &nbsp;lens", ["lens"] * 5),
        (
            "work unit",
            "> _work unit_, **work**&nbsp;unit, a work\n> unit, work “unit”",
            ["work unit"] * 3,
        ),
    ],
)
def test_a_listed_word_is_found_as_it_is_listed_and_nothing_else(
    listed: str, text: str, written: list[str], suffix: str, tmp_path: Path
) -> None:
    seed = f'terms: [{{surface: "right", definition: It, synonyms_to_avoid: ["{listed}"]}}]'
    assert [each.text for each in found(tmp_path, text, suffix, seed)] == written


def test_noun_that_is_listed_beside_its_verb_is_a_variant(tmp_path: Path) -> None:
    seed = "terms: [{surface: sign in, definition: It, synonyms_to_avoid: [log in, login]}]"
    assert [each.message for each in found(tmp_path, "log in at the login", seed=seed)] == [
        "use 'sign in' instead of 'log in'",
        "use 'sign in' instead of 'login', a variant of 'log in'",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "``ticket``, :ref:`ticket` and `it <ticket>`_",
        ".. code-block:: text\n   :name: ticket\n\n   ticket\n\n     ticket\n",
        "1. so\n\n   .. code::\n\n      ticket\n",
        ".. math:: ticket\n\n.. raw:: html\n\n   ticket\n\n.. include:: ticket\n",
        "So::\n\n  ticket\n\n  ticket\n",
        "* so::\n\n      ticket\n",
        "::\n\n\tticket\n",
        "So::\n\n> ticket\n> ticket\n",
        ".. note:: so::\n\n      ticket\n",
        ".. a ticket\n   and a ticket\n\n   a ticket\n",
        "..\n  a ticket\n",
        ".. _ticket: https://example.org\n.. __: ticket\n",
        ".. |it| image:: ticket\n",
        ">>> ticket\nticket\n",
        ".. chart:: ticket\n   :of: ticket\n\n   ticket\n\n   ticket\n",
        ".. acme:query::\n\n   ticket\n",
        ".. <!-- vocabgap-ignore -->\n\na text <!-- vocabgap-ignore --> of a ticket\n",
        ".. <!-- vocabgap-ignore -->\nticket\n",
    ],
)
def test_what_is_passed_over_in_restructured_text(text: str, tmp_path: Path) -> None:
    assert found(tmp_path, text, ".rst") == []
    assert found(tmp_path, f"{text}\na ticket\n", ".rst")[-1].text == "ticket"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("The ticket\n==========\n\na ticket_, a *ticket*\n", [1, 4, 4]),
        (".. note:: a ticket\n   :class: ticket\n\n   a ticket\n", [1, 4]),
        (".. py:function:: f(x)\n\n   a ticket\n", [3]),
        (".. versionadded:: 1.2 a ticket\n", [1]),
        (".. figure:: it.png\n   :alt: a ticket\n\n   a ticket\n", [2, 4]),
        (".. code:: text\n   :caption: a ticket\n\n   ticket\n\na ticket\n", [2, 6]),
        ("..\n\n   a ticket\n", [3]),
        (".. [1] a ticket\n   a ticket\n", [1, 2]),
        ("* so::\n\n      ticket\n\n  a ticket\n\n* a ticket\n", [5, 7]),
        ("So::\n\n  ticket\n\na ticket\n\n  a ticket\n", [5, 7]),
        ("So::\n\n> ticket\n\n> a ticket\n", [5]),
        ("So::\na ticket\n\n   a ticket\n", [2, 4]),
        (
            "+--------+\n| ticket |\n+--------+\n\n====== ======\nticket   it\n====== ======\n",
            [2, 6],
        ),
        (".. note::\n\n   .. code::\n\n      ticket\n\n   a ticket\n", [7]),
    ],
)
def test_prose_of_restructured_text_is_checked(text: str, lines: list[int], tmp_path: Path) -> None:
    assert [each.line for each in found(tmp_path, text, ".rst")] == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a ticket\na ticket <!-- vocabgap-ignore -->\na ticket\n", [1, 3]),
        ("<!-- vocabgap-ignore -->\na ticket\na ticket\n", [3]),
        (
            "> a ticket\n\n- item\n\n  a ticket\n\n| ticket | b |\n|--|--|\n| a | ticket |\n",
            [1, 5, 7, 9],
        ),
        ("a ` ticket\n\nand ` ticket\n", [1, 3]),
        ("[a ticket](x.md)\n", [1]),
        ("---\n\na ticket\n", [3]),
    ],
)
def test_what_stands_beside_it_is_not(text: str, lines: list[int], tmp_path: Path) -> None:
    assert [each.line for each in found(tmp_path, text)] == lines


def test_files_of_a_folder_are_those_of_prose_in_order(tmp_path: Path) -> None:
    names = "b.md a.txt c/d.md c/e.rst x.png .git/a.md node_modules/a.md v/pyvenv.cfg v/a.md"
    for name in names.split():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path)

    listed = [path.relative_to(tmp_path).as_posix() for path in files_within(tmp_path, {})]

    assert listed == ["a.txt", "b.md", "c/d.md", "c/e.rst"]


def test_a_command_of_a_workflow_is_one_line_whatever_it_says() -> None:
    finding = Finding("a,b:c%.md", 3, 5, 3, 9, Rule.AVOIDED, "x", "100 % of\r\n::error::it", "x")
    assert github(finding) == (
        "::error file=a%2Cb%3Ac%25.md,line=3,endLine=3,col=5,endColumn=9,title=avoided-synonym"
        "::100 %25 of%0D%0A::error::it"
    )
    over = Finding("a.md", 3, 5, 4, 2, Rule.AMBIGUOUS, "x", "y", "x")
    assert github(over) == "::warning file=a.md,line=3,endLine=4,title=ambiguous-term::y"


@pytest.mark.parametrize("suffix", [".md", ".txt", ".rst"])
@pytest.mark.parametrize("mark", MARKS)
def test_marks_without_partners_hide_no_finding(mark: str, suffix: str, tmp_path: Path) -> None:
    text = f"a ticket\n\n{mark * max(20_000, 80_000 // len(mark))}"
    assert [each.text for each in found(tmp_path, text, suffix)][:1] == ["ticket"]
