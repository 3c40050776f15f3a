"""A tool: what it is called, what it takes and gives, and what it does."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import msgspec
from mcp_types import Tool as Definition
from mcp_types import ToolAnnotations

from vocabgap.errors import InvalidInputError
from vocabgap.mcp_server.envelope import Envelope, encoded, failure, schema_of
from vocabgap.mcp_server.lanes import Lane
from vocabgap.mcp_server.telling import MARK, Told
from vocabgap.mcp_server.workspace import Workspace

Arguments = TypeVar("Arguments", bound=msgspec.Struct)
Data = TypeVar("Data", bound=Told)
Checkpoint = Callable[[], None]


class Limited(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Base of what tools take: a field that is not known is refused."""


@dataclass(frozen=True)
class Tool(Generic[Arguments, Data]):
    """One tool.

    Attributes:
        name: What agents call it.
        title: What people call it.
        description: What it does, for whoever chooses among tools.
        arguments: What it takes.
        data: What it gives.
        lane: Where it runs.
        work: What it does, in a workspace; it calls the checkpoint where it may end early.
        writes: Whether it changes anything; then it only adds, and adds again when it is called again.
        complete: What is added to the answer when the work is done, in lane `COMPARE`, so that nobody else's
            work waits for it.
    """

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    data: type[Data]
    lane: Lane
    work: Callable[[Workspace, Arguments, Checkpoint], Data]
    writes: bool = False
    complete: Callable[[Workspace, Data], Data] | None = None

    @cached_property
    def definition(self) -> Definition:
        """What clients are told of it."""
        return Definition(
            name=self.name,
            title=self.title,
            description=f"{self.description} {MARK}",
            input_schema=schema_of(self.arguments),
            output_schema=schema_of(Envelope[self.data], is_answer=True),  # type: ignore[name-defined]
            annotations=ToolAnnotations(
                read_only_hint=not self.writes,
                destructive_hint=False,
                idempotent_hint=not self.writes,
                open_world_hint=False,
            ),
        )

    def answer(self, workspace: Workspace, given: dict[str, Any], checkpoint: Checkpoint) -> dict[str, Any]:
        """What it answers: an envelope as a JSON object, whatever happens.

        Args:
            workspace: Where it works.
            given: The arguments, as they came.
            checkpoint: What ends the work where nobody waits for it.
        """
        return self.finish(workspace, self.begin(workspace, given, checkpoint))

    def begin(self, workspace: Workspace, given: dict[str, Any], checkpoint: Checkpoint) -> Envelope[Data]:
        """Do the work, in its lane; arguments as `answer`."""
        try:
            return Envelope(True, self.work(workspace, self._read(given), checkpoint), None)
        except Exception as error:
            return Envelope(False, None, failure(error))

    def finish(self, workspace: Workspace, begun: Envelope[Data]) -> dict[str, Any]:
        """What is answered once the work is done."""
        if self.complete is not None and begun.data is not None:
            begun = Envelope(True, self.complete(workspace, begun.data), None)
        return encoded(begun)

    def _read(self, given: dict[str, Any]) -> Arguments:
        try:
            return msgspec.convert({name: _whole(each) for name, each in given.items()}, self.arguments)
        except msgspec.ValidationError as error:
            names = ", ".join(self.arguments.__struct_fields__)
            raise InvalidInputError(f"arguments: {error}", hint=f"it takes {names}") from error


def _whole(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """A number without a fraction as an integer, which JSON Schema takes it for however it is written."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
