"""The libraries of the extra `embed`: loaded when first needed, and their complaints told in one line."""

from importlib import import_module
from typing import Any

from vocabgap.errors import StateError
from vocabgap.text import shortened, visible


def library(name: str) -> Any:  # noqa: ANN401 - modules that need not be installed, taken as they are
    """A library by the name that it is imported by.

    Raises:
        StateError: It is not installed, or cannot be loaded.
    """
    try:
        return import_module(name)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == name
        problem = f"needs {name}, which is not installed" if missing else f"cannot load {name}: {told(error)}"
        raise StateError(f"embedding texts {problem}", hint="pip install 'vocabgap[embed]'") from error


def told(error: BaseException) -> str:
    """What an error says, as one line that is safe to print."""
    return shortened(visible(str(error))) or type(error).__name__
