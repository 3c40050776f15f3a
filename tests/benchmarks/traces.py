"""What reading spans costs, and how often what is seen in them is a gap: calls of tools that end in an error.

    PYTHONPATH=tests python -m benchmarks.traces

The messages of the errors (`data/tool_errors.tsv`) were written for this. The expressions of the source
`otlp` and the rules of `[not_a_gap]` were chosen on `tuned`, then on `tuned later`, for which precision was
0.86 and recall 0.63 before. The part `left out` was written after that. One expression was narrowed
after a look at it ("has no attribute" is no lack of a tool); before, its precision was 0.80.
"""

import csv
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

import vocabgap
from benchmarks.labelled import OWN
from benchmarks.measuring import Row, cost_of
from vocabgap.ranking.screening import screen

SPANS: Final = {"small": 100_000, "large": 1_000_000}
LIMIT: Final = 5.0  # CPU seconds for 100,000 spans
EXPORT: Final = 500  # spans of one line
FAILING: Final = 0.05  # of the calls
TOOLS: Final = [
    "read_page",
    "find_event",
    "convert_image",
    "send_note",
    "merge_rows",
    "crop_to_face",
]


class Failure(NamedTuple):
    """The message of a call that failed, and what it is: a gap, or a failure, an outage or a policy."""

    part: str
    kind: str
    message: str


def read_failures() -> list[Failure]:
    """The messages, in order."""
    with (OWN / "tool_errors.tsv").open(encoding="utf-8", newline="") as table:
        rows = csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Failure(**row) for row in rows]


def span(tool: str, message: str | None, session: str, rng: random.Random) -> dict[str, Any]:
    """A call of a tool as an MCP server tells it; one without a message went well."""
    start = 1_780_000_000_000_000_000 + rng.randrange(10**15)
    attributes = {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "mcp.session.id": session,
        "mcp.protocol.version": "2025-11-25",
        "jsonrpc.request.id": str(rng.randrange(10**6)),
        "network.transport": "pipe",
        "gen_ai.tool.call.arguments": json.dumps({"path": f"notes/{rng.random()}", "limit": 10}),
    } | ({} if message is None else {"error.type": "tool_error"})
    return {
        "traceId": f"{rng.getrandbits(128):032x}",
        "spanId": f"{rng.getrandbits(64):016x}",
        "name": f"tools/call {tool}",
        "kind": 2,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 10**7),
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
        ],
        "status": {"code": 2, "message": message.replace("{tool}", tool)} if message else {},
    }


def export(spans: Sequence[dict[str, Any]]) -> str:
    """Spans as one line of a file of exports."""
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "desk"}}]}
    scope = {"scope": {"name": "mcp"}, "spans": spans}
    return json.dumps({"resourceSpans": [{"resource": service, "scopeSpans": [scope]}]}) + "\n"


def write_spans(path: Path, number: int) -> None:
    """So many calls, of which some fail in one of the ways that are known."""
    rng = random.Random(number)
    failures = read_failures()
    with path.open("w", encoding="utf-8") as log:
        for start in range(0, number, EXPORT):
            messages = [
                rng.choice(failures).message if rng.random() < FAILING else None
                for _ in range(min(EXPORT, number - start))
            ]
            spans = [span(rng.choice(TOOLS), text, f"s{start}", rng) for text in messages]
            log.write(export(spans))


def judged(failures: Sequence[Failure]) -> list[str]:
    """What became of each: `gap`, the rule that says it is none, or `passed over`."""
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        called = zip(cycle(TOOLS), failures, strict=False)
        spans = [span(tool, each.message, str(at), rng) for at, (tool, each) in enumerate(called)]
        Path(folder, "otlp.jsonl").write_text(export(spans), encoding="utf-8")
        gaps = screen(vocabgap.scan(folder).gaps)
    became = gaps.select("session_id", pl.when("counted").then(pl.lit("gap")).otherwise("rule"))
    outcome = dict(became.iter_rows())
    return [outcome.get(str(at), "passed over") for at in range(len(failures))]


def rows(size: str) -> Iterator[Row]:
    """A scan of spans."""
    number = SPANS[size]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "otlp.jsonl")
        write_spans(path, number)
        cost = cost_of(partial, scanned, path)
        note = f"{cost.outcome} gaps seen, {path.stat().st_size / number:,.0f} bytes a span"
        limit = LIMIT * number / 100_000
        yield Row("scan of spans", f"{number:,} spans", cost, note=note, limit=limit)


def scanned(path: Path) -> int:
    """The scan; tells how many records it gave."""
    return vocabgap.scan(path).summary.records


def main() -> None:
    """Print how many of the gaps are seen, and how many of what is seen are gaps."""
    failures = read_failures()
    outcome = judged(failures)
    print(
        "| messages | gaps | others | seen of these | others taken for one | precision | recall |"
    )
    print("|:--|--:|--:|--:|--:|--:|--:|")
    judgements = [*zip(failures, outcome, strict=True)]
    for part in dict.fromkeys(each.part for each in failures):
        pairs = [(each.kind, became) for each, became in judgements if each.part == part]
        gaps = [became for kind, became in pairs if kind == "gap"]
        others = [became for kind, became in pairs if kind != "gap"]
        right, wrong = gaps.count("gap"), others.count("gap")
        shares = f"{right / max(right + wrong, 1):.2f} | {right / len(gaps):.2f}"
        print(f"| {part} | {len(gaps)} | {len(others)} | {right} | {wrong} | {shares} |")
    for each, became in judgements:
        if (each.kind == "gap") != (became == "gap"):
            print(f"- {each.part}, {each.kind}, {became}: {each.message}")


if __name__ == "__main__":
    main()
