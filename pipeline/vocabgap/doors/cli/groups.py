"""Groups of commands and their help: commands are loaded on demand, and one group has a default."""

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_group

from vocabgap.doors.cli.calls import command_of
from vocabgap.doors.cli.output import PROGRAM, output_of
from vocabgap.doors.verbs import Panel, Verbs
from vocabgap.errors import ExitCode, InvalidInputError, alike
from vocabgap.extensions import Reference, extensions
from vocabgap.text import visible

LIST: Final = "list"
_OF_THE_PARSER: Final = ": Value error, "  # what the library puts before a message of its own
# The verbs, and groups of verbs, in the order of the help.
VERBS: Final[Mapping[str, Reference]] = {
    "report": Reference("doors.report:report"),
    "render": Reference("doors.published:render"),
    "check": Reference("doors.listing:check"),
    "list": Reference("doors.listing:list_records"),
    "show": Reference("doors.listing:show"),
    "review": Reference("doors.deciding:review"),
    "clusters": Reference("doors.clusters:CLUSTERS"),
    "draft": Reference("doors.published:draft"),
    "log": Reference("doors.recording:log"),
    "decide": Reference("doors.deciding:DECIDE"),
    "decisions": Reference("doors.deciding:DECISIONS"),
    "diff": Reference("doors.published:diff"),
    "history": Reference("doors.published:history"),
    **{verb: each for extension in extensions() for verb, each in extension.commands.items()},
    "mcp": Reference("doors.recording:mcp"),
    "hook": Reference("doors.recording:hook"),
    "init": Reference("doors.recording:init"),
    "demo": Reference("doors.report:demo"),
    "manual": Reference("doors.about:manual"),
    "schema": Reference("doors.about:schema"),
    "status": Reference("doors.about:status"),
}


# Commands that read a little: the libraries that they load would start threads that nothing uses.
_LOOKING: Final = frozenset(("list", "show", "manual", "schema", "status"))
_THREADS: Final = "OPENBLAS_NUM_THREADS"


class Parsers(Mapping[str, Any]):
    """The parsers of the verbs. A verb is loaded when it is first looked up, so that `log` is quick."""

    def __getitem__(self, verb: str) -> Any:  # noqa: ANN401 - here and below: Typer's own types are private
        return _parser(verb)

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class Command(TyperCommand):
    """A command that lists its options in plain text, under the headings of their panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the arguments, then the options by panel."""
        _write_options(self, ctx, formatter)


class Group(TyperGroup):
    """Commands that need a name; the help shows the whole first paragraph of each."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Show the help if no command is named, and exit as if an argument were missing."""
        if args or not self.no_args_is_help or ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        if output_of(ctx).as_json:
            raise InvalidInputError("no command was given", hint=f"see `{ctx.command_path} --help`")
        print(ctx.get_help(), file=sys.stderr)
        raise typer.Exit(ExitCode.INVALID_INPUT)

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Write the options, then the commands."""
        _write_options(self, ctx, formatter)
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, _first_paragraph(each)) for name, each in self.commands.items() if not each.hidden]
            )


def _write_options(command: Any, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
    shown = [(each, told) for each in command.get_params(ctx) if (told := each.get_help_record(ctx))]
    several = len({each.rich_help_panel for each, _ in shown} - {None}) > 1  # one alone sorts nothing
    panels: dict[str, list[tuple[str, str]]] = {}
    for each, told in shown:
        kind = "Arguments" if each.param_type_name == "argument" else "Options"
        panels.setdefault((several and each.rich_help_panel) or kind, []).append(told)
    for panel in sorted(panels, key=("Arguments", *Panel, "Options").index):
        with formatter.section(panel):
            formatter.write_dl(panels[panel])


def _first_paragraph(command: Any) -> str:  # noqa: ANN401
    return " ".join(inspect.cleandoc(command.help or "").partition("\n\n")[0].split())


class LoadedOnDemand(Group):
    """The root of the command line: its commands are `Parsers`."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - handed on as they are
        super().__init__(**attributes | {"commands": Parsers()})


class ListByDefault(Group):
    """A group that lists if no other of its commands is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Put `list` in front of other words; refuse a word that is nearly a command, and no folder."""
        if ctx.resilient_parsing and not args:
            return super().parse_args(ctx, args)
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            meant = alike(args[0], self.commands, 1) if args else []
            if meant and not ctx.resilient_parsing and not os.path.lexists(args[0]):
                raise InvalidInputError(
                    f"'{visible(args[0])}' is neither a command nor a folder here",
                    hint=f"did you mean `{ctx.command_path} {meant[0]}`?",
                )
            args = [LIST, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:  # noqa: ANN401
        """Suggest the commands, and the options of `list`."""
        listing = self.commands[LIST]
        with listing.make_context(LIST, [], parent=ctx, resilient_parsing=True) as context:
            options = listing.shell_complete(context, incomplete) if incomplete.startswith("-") else []
        return options or super().shell_complete(ctx, incomplete)


@cache
def _parser(verb: str) -> Any:  # noqa: ANN401
    if verb in _LOOKING:
        os.environ.setdefault(_THREADS, "1")
    command = VERBS[verb].load()
    # Only a group makes a command without completion of its own.
    only = typer.Typer(cls=Group, rich_markup_mode=None)
    if isinstance(command, Verbs):
        only.add_typer(_group(command))
    else:
        only.command(verb, cls=Command)(command_of(command))
    only.callback()(lambda: None)
    return get_group(only).commands[verb]


def _group(verbs: Verbs) -> typer.Typer:
    group = typer.Typer(
        name=verbs.name,
        help=verbs.help,
        cls=ListByDefault if verbs.unsaid else Group,
        rich_markup_mode=None,
        no_args_is_help=not verbs.unsaid,
    )
    group.callback()(lambda: None)
    for each in verbs.verbs:
        if isinstance(each, Verbs):
            group.add_typer(_group(each))
        else:
            group.command(each.name.split()[-1], cls=Command)(command_of(each))
    return group


def usage_error(error: TyperException) -> InvalidInputError:
    """Return an error of the parser with a hint that fits it."""
    message = error.format_message().replace(_OF_THE_PARSER, ": ", 1)
    context = getattr(error, "ctx", None)
    command = context.command_path if context else PROGRAM
    hint = f"see `{command} --help`"
    if "--json" in message:
        hint = f"--json goes before the verb: `{PROGRAM} --json report …`"
    elif (
        (hasattr(error, "option_name") and not getattr(error, "possibilities", None))  # is not known
        and context
        and any(parameter.param_type_name == "argument" for parameter in context.command.params)
    ):
        hint += f"; what begins with a dash and is no option goes after two: `{command} -- …`"
    elif context and _is_also_a_path(context):
        name = context.info_name
        hint += f"; for what is called {name} here: `{context.parent.command_path} {os.curdir}{os.sep}{name}`"
    return InvalidInputError(message, hint=hint)


def _is_also_a_path(context: Any) -> bool:  # noqa: ANN401
    """Say whether the name of a command may have been meant as a folder to list."""
    group = getattr(context.parent, "command", None)
    return isinstance(group, ListByDefault) and os.path.lexists(context.info_name)
