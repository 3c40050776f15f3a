"""One limit for what a file may become in memory. Rows, cells and values of JSON count as bytes."""

from dataclasses import dataclass, field
from typing import Final

from vocabgap.errors import InvalidInputError

MIB: Final = 1 << 20
USUAL_MIB: Final = 1_024  # the default of the setting `max_expanded_mib`
MOST_WHOLE: Final = 64 * MIB  # bytes of a document, which is read whole
MOST_LISTED: Final = 256 * MIB  # bytes of a journal, of a payload or of `run.json`
DEEPEST: Final = 100  # levels
ROW: Final = 256  # bytes that a row costs at least
CELL: Final = 16
REJECT: Final = 8_192  # bytes that a line costs if it gives no record, but a reason
ELEMENT: Final = 1_024  # bytes that an element of a document costs if it is no gap
_VALUES: Final = {b",": 32, b"[": 64, b"{": 256}  # bytes that a sign of JSON costs when it is decoded
_MOST_DECODED: Final = 512 * MIB


class OverBudgetError(InvalidInputError):
    """A file that expands further than it may."""


@dataclass(slots=True)
class Budget:
    """The bytes that a file may expand to, and how many of them are left."""

    most: int
    what: str = "the content"  # in the error
    option: str = f"if you trust it, set max_expanded_mib to more than {USUAL_MIB}"
    left: int = field(init=False)

    def __post_init__(self) -> None:
        self.left = self.most

    @classmethod
    def of_log(cls, size: int, most: int) -> "Budget":
        """Return the budget of a log; up to the usual limit, a small file may not become a large one."""
        return cls(min(most, fair(size)) if most <= USUAL_MIB * MIB else most)

    def spend(self, size: int = 0, rows: int = 0, cells: int = 0) -> None:
        """Count what is read next; raise OverBudgetError if the file expands too far."""
        self.left -= max(size, ROW * rows) + CELL * cells
        if self.left < 0:
            raise self.error

    @property
    def error(self) -> OverBudgetError:
        """The error of a file that expands too far."""
        problem = f"{self.what} may expand to more than {self.most / MIB:,.0f} MiB; the rest was not read"
        return OverBudgetError(problem, hint=self.option)


def fair(size: int) -> int:
    """Return the bytes that a file of a size may expand to: honest data expand to less."""
    return MOST_WHOLE + 100 * size


def weight_of(content: bytes) -> int:
    """Return the bytes that JSON takes when it is decoded."""
    return len(content) + sum(cost * content.count(sign) for sign, cost in _VALUES.items())


def require_decodable(content: bytes, what: str = "the document") -> None:
    """Raise OverBudgetError if JSON takes too much memory when it is decoded."""
    Budget(_MOST_DECODED, what, "divide it into several files").spend(weight_of(content))
