"""What to do about a command line that was not understood."""

import os
from typing import Any

from typer.exceptions import TyperException

from vocabgap.cli.groups import ListByDefault
from vocabgap.cli.output import PROGRAM
from vocabgap.errors import InvalidInputError


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
