"""How often the word-level check for contradictions is wrong, and how often it is right.

Run by `make bench`. Of twenty terms, each with its definition, there are ten sentences that only negate or
contrast something and use the term as it is defined, and three that use it against its definition. They were
written for this, before they were checked.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vocabgap.glossary.conflicts import contradictions

SENTENCES: Final = Path(__file__).with_name("negations.jsonl")


def checked() -> Iterator[tuple[str, str, bool]]:
    """Each sentence with its kind, consistent or contradicting, and whether it is called a contradiction."""
    for line in SENTENCES.read_text(encoding="utf-8").splitlines():
        term = json.loads(line)
        for kind in ("consistent", "contradicting"):
            for sentence in term[kind]:
                yield (
                    kind,
                    sentence,
                    any(contradictions(sentence, term["term"], term["definition"])),
                )


def counts() -> dict[str, tuple[int, int]]:
    """By kind, how many sentences there are, and how many of them are called contradictions."""
    listed = list(checked())
    totals, called = (
        Counter(kind for kind, _, _ in listed),
        Counter(kind for kind, _, is_called in listed if is_called),
    )
    return {kind: (total, called[kind]) for kind, total in totals.items()}


def main() -> None:
    """Print a table."""
    print("| sentences | there are | called contradictions |\n|:--|--:|--:|")
    for kind, (total, called) in counts().items():
        print(f"| {kind} | {total} | {called} |")


if __name__ == "__main__":
    main()
