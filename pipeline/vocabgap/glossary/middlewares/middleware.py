"""What a middleware is."""

from typing import Protocol

from vocabgap.glossary.context import ExecutionContext
from vocabgap.glossary.session import Session


class Middleware(Protocol):
    """One of the rooms that a step passes."""

    def __call__(self, context: ExecutionContext, session: Session) -> ExecutionContext:
        """Add to a step what this room finds out, and give it on.

        Args:
            context: The step.
            session: What the rooms share.
        """
