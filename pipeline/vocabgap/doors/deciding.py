"""`decide` and `decisions`: decisions about the capabilities of a run."""

from contextlib import nullcontext, suppress
from enum import StrEnum
from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Final

from msgspec.structs import asdict

from vocabgap.doors.verbs import (
    ACTOR,
    NOW,
    RUN,
    Answer,
    Event,
    Place,
    Request,
    Verb,
    Verbs,
    argument,
    option,
    verb,
)
from vocabgap.errors import VocabgapError, expanded
from vocabgap.model.moments import parse_now
from vocabgap.text import printable_name

if TYPE_CHECKING:
    from vocabgap.decisions.effects import Effect
    from vocabgap.doors.cli.calls import Call

_CAPABILITY: Final = argument("Rank, identifier, label or any wording of a capability.")
_WHY: Final = option("Reason for the decision.")
_SETTINGS: Final = ("--decisions",)


class Deciding(Request):
    """Base of requests that add decisions."""

    actor: Annotated[str | None, ACTOR] = None
    now: Annotated[str | None, NOW] = None
    run: Annotated[Place | None, RUN] = None
    dry_run: Annotated[bool, option("Show what would change, but record nothing.")] = False


class About(Deciding, kw_only=True):
    """A decision about a capability of a published run."""

    capability: Annotated[str, _CAPABILITY]
    why: Annotated[str, _WHY] = ""


# The docstrings of the following classes are the help.
class Merge(About, kw_only=True):
    """Merge two capabilities; the result keeps the identifier of the first."""

    other: Annotated[str, _CAPABILITY]


class Split(About, kw_only=True):
    """Split wordings off a capability, because they are another need."""

    wordings: Annotated[tuple[str, ...], option("A wording to split off.", "--wording")]


class Rename(About, kw_only=True):
    """Give a capability a new label."""

    label: Annotated[str, argument("The new label.")]


class Pin(About, kw_only=True):
    """Rank a capability first, whatever its counts are and whichever entries cover it."""


class Dismiss(About, kw_only=True):
    """Dismiss a capability: nobody will author it.

    The decision applies while its present wordings have at least half of its mentions.
    """

    why: Annotated[str, _WHY]


class Author(About, kw_only=True):
    """Record the entry that was authored for a capability; later reports tell what that changed."""

    entry: Annotated[str, option("Name of the vocabulary entry.")]


class Reopen(About, kw_only=True):
    """Reopen a capability that was dismissed, authored or claimed."""


class Claim(About, kw_only=True):
    """Claim a capability: you are authoring it.

    The list marks it. The claim ends when somebody authors, dismisses or reopens it.
    """


class Undo(Deciding, kw_only=True):
    """Undo a decision, as if it had never been made.

    If you undo a merge, each later decision stays with one of the two capabilities: the one whose wording or
    identifier named it.
    """

    decision: Annotated[
        str | None, argument("Identifier in `vocabgap decisions list`, or its first characters.")
    ] = None
    last: Annotated[bool, option("Undo the last active decision; confirmations do not count.")] = False
    why: Annotated[str, _WHY] = ""


class Apply(Deciding, kw_only=True):
    """Record the decisions that the page of a report saved: all of them or none.

    Each capability must be in the run under the same label.
    """

    source: Annotated[str, argument("The file that the page saved; - reads its lines from stdin.", "FILE")]


def _decided(call: "Call", request: Deciding) -> Answer:
    from vocabgap.listing.deciding import Decisions

    settings = call.settings
    place = printable_name(str(expanded(settings.decisions.file)))
    book = Decisions(
        request.run or settings.report.out,
        settings.decisions.file,
        actor=request.actor,
        now=None if request.now is None else parse_now(request.now),
        dry_run=request.dry_run,
        on_wait=call.output.telling_of_wait(place),
    )
    if isinstance(request, Apply):
        same = "their capabilities have the same labels in this run"
        decisions = book.apply(
            request.source, lambda run: call.note(f"the decisions come from the report of {run}; {same}")
        )
        recorded: dict[str, object] = {"decision_ids": [each.decision_id for each in decisions]}
    else:
        shared = Deciding.__struct_fields__
        details = {name: value for name, value in asdict(request).items() if name not in shared}
        decisions = (getattr(book, _name_of(type(request)))(**details),)
        recorded = {"decision_id": decisions[0].decision_id}
    effects: tuple[Effect, ...] = ()
    problem = ""
    try:
        effects = book.effects(decisions)
    except VocabgapError as error:  # an undo needs no run
        problem = error.message
    return Answer(
        events=[
            *(Event("decision", {"decision": decision}) for decision in decisions),
            *(Event("effect", {"effect": effect}) for effect in effects),
        ],
        result={**recorded, "dry_run": request.dry_run, "file": place},
        view="decide.txt.j2",
        shown={
            "decisions": decisions,
            "replaced": book.replaced(decisions),
            "effects": effects,
            "problem": problem,
        },
    )


def _name_of(request: type[Deciding]) -> str:
    """Return the name of the verb, and of the method of `Decisions`."""
    return request.__name__.lower()


DECIDE: Final = Verbs(
    "decide",
    "Decide about the capabilities of a published run.\n\n"
    "Name a capability by its rank, its identifier (or the first characters of it), its label, or a wording. "
    "A decision does not change the logs. It is a line in a file, and every later report follows it.",
    tuple(
        Verb(_name_of(request), request, _decided, cleandoc(request.__doc__ or ""), _SETTINGS)
        for request in (Merge, Split, Rename, Pin, Dismiss, Author, Reopen, Claim, Undo, Apply)
    ),
)


class Standing(StrEnum):
    """The state of a decision."""

    IN_FORCE = "in force"
    OUTGROWN = "outgrown"
    UNFOLLOWED = "not followed"
    UNDONE = "undone"
    UNDOS = "undo"


class ListDecisions(Request):
    """The request of `decisions list`."""

    run: Annotated[Place | None, RUN] = None


@verb(ListDecisions, name="list", settings=_SETTINGS)
def list_decisions(call: "Call", request: ListDecisions) -> Answer:
    """List the decisions and their state, oldest first.

    The list shows who undid a decision and when. A decision about the status of a group ends if other
    wordings have most of its mentions.
    """
    call.require_decisions()
    settings = call.settings
    from vocabgap.decisions.record import Action
    from vocabgap.decisions.replay import undoings
    from vocabgap.listing.deciding import Decisions

    book = Decisions(request.run or settings.report.out, settings.decisions.file)
    decisions, standing_of = book.all(), dict[str, Standing]()
    undone = undoings(decisions)
    with nullcontext() if request.run else suppress(VocabgapError):  # there may be no run yet
        if decisions:
            standing_of = dict.fromkeys(book.outgrown(), Standing.OUTGROWN)
            standing_of |= dict.fromkeys(book.unfollowed(), Standing.UNFOLLOWED)
    standing_of |= {each.decision_id: Standing.UNDOS for each in decisions if each.undoes is not None}
    standing_of |= dict.fromkeys(undone, Standing.UNDONE)
    standings = [standing_of.get(each.decision_id, Standing.IN_FORCE) for each in decisions]
    undos = [undone.get(each.decision_id) for each in decisions]
    rows = [*zip(decisions, standings, undos, strict=True)]
    confirmed = {each.decision_id for each in decisions if each.action is Action.CONFIRM}
    return Answer(
        events=(
            Event(
                "decision",
                {
                    "decision": decision,
                    "in_force": standing is Standing.IN_FORCE,
                    "standing": standing,
                    "undone_by": undo and undo.decision_id,
                },
            )
            for decision, standing, undo in rows
        ),
        result={
            "decisions": len(decisions),
            **{standing.name.lower(): standings.count(standing) for standing in Standing},
            "file": printable_name(str(book.file)),
        },
        view="decisions.txt.j2",
        shown={
            "rows": [row for row in rows if confirmed.isdisjoint((row[0].decision_id, row[0].undoes))],
            "confirmed": len(confirmed),
        },
    )


DECISIONS: Final = Verbs("decisions", "List the decisions.", (list_decisions,))
