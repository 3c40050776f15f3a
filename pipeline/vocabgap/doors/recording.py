"""`log`: people and agents log gaps."""

import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from vocabgap.doors.verbs import Answer, Panel, Request, argument, extended, option, verb
from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError, expanded
from vocabgap.files.refusals import current_folder
from vocabgap.model.loading import CONFIG_VARIABLE
from vocabgap.model.record import given_fields
from vocabgap.text import escape_unseen, short_hash, visible

if TYPE_CHECKING:
    from vocabgap.doors.cli.calls import Call
    from vocabgap.logbook.log import LoggedGap


class LogOptions(Request, kw_only=True):
    """The request of `log`, without the fields of the record."""

    image: Annotated[
        str | None,
        argument(
            "Folder of the log, such as that of an image. By default [ingest] roots in the settings, if it is"
            " one folder, else the current folder. The log is created if it does not exist."
        ),
    ] = None
    corrects: Annotated[
        str | None, option("record_id of the record that this gap replaces.", panel=Panel.MORE)
    ] = None


_FIELDS: Final = given_fields("cli")


TEXT_HINT: Final = 'write `vocabgap log FOLDER --need "WHAT WAS MISSING"`'


@verb(extended(LogOptions, _FIELDS, Panel.RECORD), settings=())
def log(call: "Call", request: LogOptions) -> Answer:
    """Log a gap, of a project or of an image."""
    from vocabgap.logbook.log import log_gap

    given = {name: _given(getattr(request, name)) for name, *_ in _FIELDS}
    if request.image and not (any(given.values()) or request.corrects or expanded(request.image).exists()):
        problem = f"there is no folder '{request.image}', and no text of a gap"
        raise NotFoundError(problem, hint=TEXT_HINT)
    logged = log_gap(
        _own_folder(call) if request.image is None else request.image,
        **given,
        corrects=request.corrects,
        on_wait=partial(call.note, "waiting: another program is writing this log"),
    )
    note = _category_note(call, given["intent_category"])
    guessed = " (a guess)" if logged.record.get("category_guessed") else ""
    category = f"{visible(logged.record['intent_category'])}{guessed}"
    return replace(
        log_answer(logged, note),
        # Loading Jinja would take longer than logging.
        text=escape_unseen(f"logged {short_hash(logged.gap_id)} in {logged.path}, category {category}"),
        done=f"the gap was logged as {logged.gap_id}",
    )


def log_answer(logged: "LoggedGap", note: str) -> Answer:
    """Return the record that was logged, with a note on its category."""
    return Answer(
        result={
            "success": True,
            "gap_id": logged.gap_id,
            "path": str(logged.path),
            "record": logged.record,
            "note": note or None,
        },
        notes=[note] if note else [],
    )


def _own_folder(call: "Call") -> Path:
    """Return the only root of the settings, if it is a folder, else the current folder."""
    roots = call.settings.ingest.roots
    folder = Path(roots[0]) if len(roots) == 1 and Path(roots[0]).is_dir() else Path()
    is_named = call.trust or call.config or os.environ.get(CONFIG_VARIABLE)
    if not (is_named or folder.resolve().is_relative_to(current_folder())):
        raise InvalidInputError(
            f"[ingest] roots leads out of this folder, to '{folder}', and nobody named these settings",
            hint="name the folder of the log, or add --trust",
        )
    return folder


def _given(value: Any) -> Any:  # noqa: ANN401 - a field of the record
    """Return a field for `log_gap`. Empty text counts as missing: a shell variable may be unset."""
    if value in ("", ()):
        return None
    return [*value] if isinstance(value, tuple) else value


def _category_note(call: "Call", category: str | None) -> str:
    """Return a note on an unknown category; none if the settings cannot be read."""
    if category:
        from vocabgap.listing.records import unknown_category

        with suppress(VocabgapError):
            return unknown_category(category, call.settings, call.settings.report.out)
    return ""
