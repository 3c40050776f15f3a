"""Runs conformance cases: one line a case, a total, and exit code 1 where one fails.

    python tests/conformance.py FILE

A file has one case a line, as JSON: `id`, `input` with an `op`, and `expected`. Only the package is needed.
What an `op` does is found in module `conforming` of the tests of a slice.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from conforming.cases import Case, Noted, Operation, mismatches, read_cases
from slices import parts

OPERATIONS: Final[Mapping[str, Operation]] = {
    name: operation for part in parts("conforming") for name, operation in part.OPERATIONS.items()
}


def outcome(case: Case, cases: Mapping[str, Case]) -> tuple[list[str], str]:
    """What is not as a case expects, in words, nothing where all is; and what is to be known of it."""
    if case.unreadable:
        return [case.unreadable], ""
    if case.operation not in OPERATIONS:
        known = ", ".join(sorted(OPERATIONS))
        return [f"there is no op {case.operation!a}; expected one of {known}"], ""
    try:
        observed = OPERATIONS[case.operation](case.input, cases)
    except (
        Exception
    ) as error:  # a case of another form than expected is named like any other failure
        return [f"the case cannot be run: {type(error).__name__}: {error}"], ""
    note = observed.note if isinstance(observed, Noted) else ""
    return mismatches(
        case.expected, observed.observed if isinstance(observed, Noted) else observed
    ), note


def main(arguments: list[str]) -> int:
    """Run the cases of a file and say how each went."""
    if len(arguments) != 1:
        print("usage: python tests/conformance.py FILE", file=sys.stderr)
        return 1
    path = Path(arguments[0])
    try:
        listed = read_cases(path)
    except (OSError, UnicodeDecodeError) as error:
        print(f"{path} cannot be read: {error}", file=sys.stderr)
        return 1
    cases = {case.id: case for case in listed}
    failed = 0
    for case in listed:
        wrong, note = outcome(case, cases)
        failed += bool(wrong)
        message = f" ({note})" if note else ""
        print(
            f"FAIL {case.id}: {'; '.join(wrong)}{message}" if wrong else f"ok   {case.id}{message}"
        )
    print(f"{len(listed)} cases: {len(listed) - failed} ok, {failed} failed")
    return 1 if failed or not listed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
