"""Two kinds of groups of commands: one that loads a command once it is asked for, one with a default."""

import os
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_group

from vocabgap.cli.output import PROGRAM
from vocabgap.errors import InvalidInputError, alike
from vocabgap.text import visible

LIST: Final = "list"
# Each verb with the module of `vocabgap.cli` and the function or group in it, in the order of the help.
VERBS: Final = {
    "report": ("report_command", "report"),
    "render": ("published_command", "render"),
    "check": ("check_command", "check"),
    "list": ("listing_command", "list_records"),
    "show": ("listing_command", "show"),
    "review": ("review_command", "review"),
    "clusters": ("clusters_command", "clusters"),
    "draft": ("published_command", "draft"),
    "log": ("log_command", "log"),
    "decide": ("decisions_command", "decide"),
    "decisions": ("decisions_command", "decisions"),
    "diff": ("published_command", "diff"),
    "history": ("history_command", "history"),
    "corpus": ("corpus_command", "corpus"),
    "glossary": ("glossary_command", "glossary"),
    "mcp": ("mcp_command", "mcp"),
    "schema": ("about_command", "schema"),
    "status": ("about_command", "status"),
}


class Verbs(Mapping[str, Any]):
    """The parser of every verb; a verb's module is loaded, and its parser made, when it is first looked up.

    A gap is logged in the middle of somebody's work, and loading all verbs takes longer than writing it down.
    """

    def __getitem__(self, verb: str) -> Any:  # noqa: ANN401 - Typer's own type is private
        return _parser(verb)

    def __iter__(self) -> Iterator[str]:
        return iter(VERBS)

    def __len__(self) -> int:
        return len(VERBS)


class LoadedOnDemand(TyperGroup):
    """The root of the command line: its commands are `Verbs`."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - handed on as they are
        super().__init__(**attributes | {"commands": Verbs()})


class ListByDefault(TyperGroup):
    """Lists the groups where no other of its commands is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own type is private
        """Put the command in front that goes unsaid; what is nearly one, and no folder, is refused."""
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            meant = alike(args[0], self.commands, 1) if args else []
            if meant and not os.path.lexists(args[0]):
                raise InvalidInputError(
                    f"'{visible(args[0])}' is no command, and no folder here",
                    hint=f"did you mean `{ctx.command_path} {meant[0]}`?",
                )
            args = [LIST, *args]
        return super().parse_args(ctx, args)


@cache
def _parser(verb: str) -> Any:  # noqa: ANN401 - Typer's own type is private
    module, name = VERBS[verb]
    command = getattr(import_module(f"vocabgap.cli.{module}"), name)
    # Nothing but a group makes a command that is one among others: without completion of its own, for one.
    only = typer.Typer(rich_markup_mode=None)
    if isinstance(command, typer.Typer):
        only.add_typer(command)
    else:
        only.command(verb)(command)
    only.callback()(lambda: None)
    return get_group(only).commands[verb]


def usage_error(error: TyperException) -> InvalidInputError:
    """The error of the parser with a hint that fits it."""
    message = error.format_message()
    context = getattr(error, "ctx", None)
    command = context.command_path if context else PROGRAM
    hint = f"see `{command} --help`"
    if "--json" in message:
        hint = f"--json goes before the verb: `{PROGRAM} --json report …`"
    elif _is_unknown_option(error) and context and _takes_arguments(context):
        hint += f"; what begins with a dash and is no option goes after two: `{command} -- …`"
    elif context and _is_also_a_path(context):
        name = context.info_name
        hint += f"; for what is called {name} here: `{context.parent.command_path} {os.curdir}{os.sep}{name}`"
    return InvalidInputError(message, hint=hint)


def _is_unknown_option(error: TyperException) -> bool:
    return hasattr(error, "option_name") and not getattr(error, "possibilities", None)


def _takes_arguments(context: Any) -> bool:  # noqa: ANN401 - Typer's own type is private
    return any(parameter.param_type_name == "argument" for parameter in context.command.params)


def _is_also_a_path(context: Any) -> bool:  # noqa: ANN401 - Typer's own type is private
    """Whether the command that misses something was perhaps meant as a root of the one that goes unsaid."""
    group = getattr(context.parent, "command", None)
    return isinstance(group, ListByDefault) and os.path.lexists(context.info_name)
