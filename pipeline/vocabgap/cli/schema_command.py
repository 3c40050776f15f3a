"""`vocabgap schema`: what the columns of the published frames mean, and the contracts of the corpus."""

from typing import Annotated, Any

import typer

from vocabgap.cli.output import Output, output_of
from vocabgap.errors import InvalidInputError
from vocabgap.records.record import RejectReason

RUN = "run"


def schema(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="records, capabilities, gaps, rejects, lineage, groups or run; or a contract of the corpus: "
            "parsed-chunk-v1, backup-record-v1, identity or deletion-signals."
        ),
    ],
) -> None:
    """Print the columns of a published frame, or a contract of the shared corpus."""
    from vocabgap.corpus.contracts import FILES  # noqa: PLC0415
    from vocabgap.schema import PUBLISHED, REJECTS  # noqa: PLC0415 - loads Polars

    output = output_of(context)
    if name == RUN:
        _run_fields(output)
        return
    if name in FILES:
        _contract(output, name)
        return
    if name not in PUBLISHED:
        known = ", ".join([*PUBLISHED, RUN, *FILES])
        raise InvalidInputError(f"there is no schema '{name}'", hint=f"expected one of {known}")
    table = PUBLISHED[name]
    columns = [
        {"name": column.name, "dtype": str(column.dtype), "meaning": column.meaning}
        for column in table.columns
    ]
    reasons = {"reasons": list(RejectReason)} if table is REJECTS else {}
    _show(output, f"{name}: {table.row}", columns, name, **reasons)


def _contract(output: Output, name: str) -> None:
    from vocabgap.corpus.contracts import contract_text  # noqa: PLC0415

    text = contract_text(name)
    output.event("result", schema=name, document=text)
    output.text(text.removesuffix("\n"))


def _run_fields(output: Output) -> None:
    import msgspec  # noqa: PLC0415 - with what it inspects

    from vocabgap.reporting.manifest import Manifest  # noqa: PLC0415

    fields = msgspec.json.schema(Manifest)["$defs"]["Manifest"]["properties"]
    columns = [
        {"name": name, "dtype": _json_type(field), "meaning": _meaning(field)}
        for name, field in fields.items()
    ]
    _show(output, "run: the manifest of a run, run.json", columns, RUN)


def _show(
    output: Output, heading: str, columns: list[dict[str, str]], name: str, **closed_lists: list[RejectReason]
) -> None:
    from vocabgap.cli.output import table  # noqa: PLC0415 - loads rich

    for column in columns:
        output.event("column", **column)
    output.event("result", schema=name, columns=len(columns), **closed_lists)
    output.text(f"{heading}\n")
    output.text(table(("column", "dtype", "meaning"), [tuple(column.values()) for column in columns]))
    for what, values in closed_lists.items():
        output.text(f"\n{what}: {', '.join(values)}")


def _json_type(field: dict[str, Any]) -> str:
    kinds = [option.get("type", "object") for option in field.get("anyOf", [field])]
    return " or ".join(dict.fromkeys(kinds))


def _meaning(field: dict[str, Any]) -> str:
    options = [field, *field.get("anyOf", [])]
    return next(
        (option["description"] for option in options if "description" in option), "version of this schema"
    )
