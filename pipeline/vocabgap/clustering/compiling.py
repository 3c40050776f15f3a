"""Compiles loops with Numba, which is loaded with this module alone, and keeps what was compiled.

It is kept beside the module, or in the person's cache folder where that cannot be written. What was kept can
be made again at any time: where it is damaged or there is no room for it, that costs seconds and is no error.
"""

# mypy: disable-error-code="no-untyped-call"

import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from numba import njit
from numba.core.caching import FunctionCache, IndexDataCacheFile

_DAMAGED: Final = "the compiled loops that an earlier run has kept cannot be read; they are compiled again"
_NOT_KEPT: Final = "the compiled loops cannot be kept, so that the next run compiles them again"


@cache
def _sources() -> str:
    """A digest of everything that is compiled: what was kept of other sources is not taken."""
    digest = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _Kept(FunctionCache):  # type: ignore[misc] # Numba is untyped
    """What is kept of one function, or nothing where that cannot be read or written."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        # Numba would look at the file of the function alone, and not at those that it calls into.
        self._cache_file = IndexDataCacheFile(self._cache_path, self._impl.filename_base, _sources())

    def load_overload(self, sig: object, target_context: object) -> object:
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # what a damaged pickle raises has no common base
            warnings.warn(f"{_DAMAGED}: {error!r}", RuntimeWarning, stacklevel=2)
            self._unless_the_disk_refuses(self.flush)
            return None

    def save_overload(self, sig: object, data: object) -> None:
        self._unless_the_disk_refuses(partial(super().save_overload, sig, data))

    @staticmethod
    def _unless_the_disk_refuses(write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            warnings.warn(f"{_NOT_KEPT}: {error}", RuntimeWarning, stacklevel=2)


def compiled(function: Callable[..., Any], *, parallel: bool = False) -> Any:  # noqa: ANN401 - a dispatcher
    """A function compiled at its first call, or loaded from what an earlier run compiled."""
    dispatcher = njit(parallel=parallel)(function)
    with suppress(RuntimeError):  # where there is no folder to keep it in
        dispatcher._cache = _Kept(function)  # noqa: SLF001 - as `njit(cache=True)` does
    return dispatcher


compiled_in_parallel: Final = partial(compiled, parallel=True)
