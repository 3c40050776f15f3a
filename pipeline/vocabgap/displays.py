"""Results in a notebook: a line, and a small table below it."""

from collections.abc import Iterable, Sequence
from typing import Final

from markupsafe import Markup

from vocabgap.text import escape_unseen, shortened

_MOST_CHARACTERS: Final = 120  # of a cell


def html_table(summary: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a line of text and a table as HTML that loads nothing; all text is escaped.

    The line is whole, as it may name a folder. The table cuts long texts, and None is an empty cell.
    """
    head = Markup().join(Markup("<th>{}</th>").format(_shown(name)) for name in columns)
    body = Markup().join(Markup("<tr>{}</tr>").format(Markup().join(map(_cell, row))) for row in rows)
    table = Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(head, body)
    return str(Markup("<p>{}</p>{}").format(escape_unseen(summary), table))


def _cell(value: object) -> Markup:
    if isinstance(value, int | float):
        number = f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
        return Markup('<td style="text-align: right">{}</td>').format(number)
    return Markup('<td style="text-align: left">{}</td>').format("" if value is None else _shown(str(value)))


def _shown(text: str) -> str:
    return escape_unseen(shortened(text, _MOST_CHARACTERS))
