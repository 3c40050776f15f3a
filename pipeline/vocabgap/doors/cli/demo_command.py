"""`vocabgap demo`: a workspace to try everything on, with its report."""

import os
import shlex
import shutil
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from vocabgap.doors.cli.output import PROGRAM, folder_line, output_of
from vocabgap.errors import StateError
from vocabgap.files.atomic import whole_folder
from vocabgap.files.refusals import refusing
from vocabgap.model.moments import LAST
from vocabgap.text import escape_unseen, printable_name, visible

if TYPE_CHECKING:
    from vocabgap.reporting.summary import Summary

_FOLDER: Final = "vocabgap-demo"
_EMBEDDER: Final = "VOCABGAP_EMBEDDER"
_ELSEWHERE: Final = f"name one that does not exist yet: `{PROGRAM} demo DIR`"


def demo(
    context: typer.Context,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder to make; it must not hold anything yet.")
    ] = _FOLDER,
) -> None:
    """Write a workspace of made-up gap logs, report on it, and say what to try next.

    What you have set and decided yourself plays no part in it.
    """
    # What follows loads Polars.
    from vocabgap.doors.cli.report_command import print_ranking
    from vocabgap.model.loading import resolve_settings
    from vocabgap.pipeline import STAGES, run
    from vocabgap.reporting.manifest import PAGE_NAME
    from vocabgap.reporting.published_run import resolve_target

    output = output_of(context)
    target = resolve_target(folder, option="DIR")
    flags = {"--out": str(target / "out"), "--decisions": str(target / "decisions.jsonl")}
    model = {_EMBEDDER: os.environ.get(_EMBEDDER, "")}  # what else is set would make it another demo
    settings = resolve_settings(os.devnull, model, flags).settings
    with refusing(f"'{folder}' cannot be written", hint=_ELSEWHERE):
        _write(target)
    with output.progress(STAGES) as listener:
        made = run(target, settings=settings, now=LAST, on_stage=listener)
    page = folder_line(made.published.folder / PAGE_NAME)
    steps = _steps(folder_line(target), made.published.summary)
    output.event(
        "result",
        folder=printable_name(str(target)),
        page=printable_name(str(made.published.folder / PAGE_NAME)),
        capabilities=made.published.summary.total,
        mentions=made.published.summary.mentions,
        next=[*steps],
    )
    if output.as_json:
        return
    print_ranking(output, made)
    width = max(map(len, steps))
    output.text(f"\nOpen {page} in a browser. To go on, line by line:")
    output.text("\n".join(f"  {step:<{width}}  # {what}" for step, what in steps.items()))


def _write(target: Path) -> None:
    """Write the workspace of the package, whole or not at all, where nothing is."""
    source = Path(str(files("vocabgap") / "demo"))
    with whole_folder(target, (), lambda _: False, partial(_require_nothing, target)) as staging:
        for path in source.rglob("*"):
            if path.is_file() and path.suffix != ".png":  # which the README shows
                place = staging / path.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)  # without the permissions of a package


def _require_nothing(target: Path) -> None:
    shown = escape_unseen(str(target))
    if os.path.lexists(target) and not target.is_dir():
        raise StateError(f"'{shown}' is no folder", hint=_ELSEWHERE)
    if target.is_dir() and any(target.iterdir()):
        raise StateError(f"folder '{shown}' holds other files", hint=_ELSEWHERE)
    if target == Path.cwd():  # which another folder would take the place of
        raise StateError(f"folder '{shown}' is the current one", hint=_ELSEWHERE)


def _steps(folder: str, summary: "Summary") -> dict[str, str]:
    """What to type next, with what it is good for."""
    first, second = (shlex.quote(visible(item.label)) for item in summary.capabilities[:2])
    report = f"{PROGRAM} report . --now {LAST}"
    return {
        f"cd {shlex.quote(folder)}": "where the files are",
        f"{PROGRAM} show {first} .": "all that is known of one need",
        f"{PROGRAM} clusters show {first} .": "how its wordings came together",
        f"{PROGRAM} check .": "the lines that could not be read, and why",
        f"{PROGRAM} decide pin {second} --why 'asked for by ana'": "have it stand first from now on",
        f"{report} --vocabulary vocabulary.json": "follow that, and look for what is there already",
        f"{PROGRAM} status": "the settings in force; a vocabgap.toml changes them",
    }
