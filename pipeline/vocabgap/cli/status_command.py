"""`vocabgap status`: versions, settings in force, and the last run."""

import os
import platform
from collections.abc import Iterator
from typing import Any

import msgspec
import typer

from vocabgap.cli.options import ConfigOption
from vocabgap.cli.output import Output, output_of
from vocabgap.config import VARIABLES, resolve_settings
from vocabgap.text import escape_unseen
from vocabgap.version import __version__


def status(
    context: typer.Context,
    config: ConfigOption = None,
) -> None:
    """Print versions, the settings in force and the last run."""
    from vocabgap.moments import iso  # noqa: PLC0415
    from vocabgap.reporting.manifest import read_manifest, versions  # noqa: PLC0415 - loads Polars
    from vocabgap.reporting.target import resolve_target  # noqa: PLC0415

    output = output_of(context)
    loaded = resolve_settings(config, os.environ)
    libraries = versions()
    last = read_manifest(resolve_target(loaded.settings.report.out))
    output.event(
        "result",
        vocabgap=__version__,
        python=platform.python_version(),
        libraries=libraries,
        config=None if loaded.path is None else str(loaded.path),
        settings=loaded.settings,
        sources=loaded.settings.sources,
        last_run=None
        if last is None
        else {"now": last.now, "capabilities": last.capabilities, "command": last.command},
    )
    named = ", ".join(f"{name} {number}" for name, number in libraries.items())
    _line(output, f"vocabgap {__version__}, Python {platform.python_version()}, {named}")
    _line(output, f"settings file: {loaded.path or 'none'}\n")
    variables = {place: variable for variable, place in VARIABLES.items()}
    tables = msgspec.to_builtins(loaded.settings)
    del tables["source"]
    for table, values in tables.items():
        _line(output, f"[{table}]")
        for key, value in values.items():
            variable = variables.get((table, key))
            _line(output, f"{key} = {_toml(value)}" + (f"  # {variable}" if variable else ""))
    for name, source in loaded.settings.sources.items():
        _line(output, f"[source.{name}]")
        for key, value in _said(msgspec.to_builtins(source)):
            _line(output, f"{key} = {_toml(value)}")
    where = loaded.settings.report.out
    if last is None:
        _line(output, f"\nno run in '{where}'")
    else:
        _line(output, f"\nlast run in '{where}': {iso(last.now)}, {last.capabilities:,} capabilities")


def _said(source: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """The keys of a source that say anything, those of its tables with a dot."""
    for key, value in source.items():
        if isinstance(value, dict):
            yield from ((f"{key}.{name}", each) for name, each in value.items())
        elif value is not True:
            yield key, value


def _toml(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _line(output: Output, text: str) -> None:
    """Print a line of settings: they are a file's text, and are shown, not obeyed."""
    output.text("\n".join(map(escape_unseen, text.split("\n"))))
