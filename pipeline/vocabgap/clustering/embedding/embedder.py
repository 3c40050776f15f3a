"""Texts to vectors, several at a time, and each only once."""

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from numbers import Integral
from pathlib import Path
from threading import Event
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from vocabgap.clustering.embedding.cache import EmbeddingCache, cpu_kind
from vocabgap.clustering.embedding.encoder import Encoder, Grid, libraries, load_encoder
from vocabgap.clustering.embedding.model_files import DAMAGED_HINT, ModelFiles, find_minilm, find_model
from vocabgap.errors import InvalidInputError, NotFoundError, unusable
from vocabgap.files.caches import user_cache
from vocabgap.model.settings import AUTO, INSTALLING, MINILM, NO_EMBEDDER
from vocabgap.text import shortened, visible

_TEXTS_OF_A_TASK: Final = 64
_KEPT_AT_ONCE: Final = 4096  # texts; a run that is stopped loses no more than that


@dataclass(frozen=True, slots=True)
class EmbeddingUse:
    """What a cache of embeddings was good for."""

    found: int  # texts whose vectors were there
    computed: int  # texts that the model was run on
    note: str = ""  # what is to be said of the cache itself; empty where all was well


class Embedder:
    """A sentence embedding model that lies on this machine; see `Embedder.load`.

    On one kind of CPU, the same text has the same vector, bit for bit, whatever else is asked for, in
    whatever order and by however many threads, and whether it was computed now or comes from a cache. On
    another kind few vectors have a number that is rounded to the next step, and a cache gives it no vectors
    of this one.

    Attributes:
        name: What the model is called, without the place where it lies.
        digest: SHA-256 (hex) of the model, its tokenizer and its settings.
        runtime: The library that runs it, with its version.
        processor: The kind of CPU that runs it.
        dims: Dimensions of a vector.
    """

    def __init__(
        self,
        files: ModelFiles,
        *,
        cache: str | Path | None = None,
        cache_required: bool = True,
        threads: int | None = None,
    ) -> None:
        self._threads = _thread_count(threads)
        self._files = files
        self.name = files.name
        if files.dims is None:
            self.digest, self.dims = self._encoder.digest, self._encoder.probe()
        else:  # it is loaded when a text is to be computed
            self.digest, self.dims = files.digest(), files.dims
        self.runtime, split_by = libraries()
        self.processor = cpu_kind()
        self._cache: EmbeddingCache | None = None
        if cache is not None:
            depends_on = (self.digest, self.runtime, split_by, self.processor)
            self._cache = EmbeddingCache(cache, depends_on, self.dims, required=cache_required)
        self._found = self._computed = 0
        self._given = hashlib.sha256()

    @classmethod
    def load(cls, model: str | Path, cache: str | Path | None = None, *, threads: int | None = None) -> Self:
        """Load a model.

        Args:
            model: A folder as models are published in, with `tokenizer.json` and `model.onnx`; an `.onnx`
                file of it; or, as text, `minilm`: the known one that the extra `embed` installs. A folder
                of that name is `./minilm`.
            cache: A folder that keeps vectors for the next run; they lie in `embeddings` in it.
            threads: How many texts are computed at a time, at least 1; as many as there are usable CPUs by
                default.

        Raises:
            NotFoundError: There is no such model, or one of its files is not there.
            InvalidInputError: The model is damaged, or of a kind that is not known here; or `threads` is no
                such number.
            AccessDeniedError: The system does not let a file or the cache be used.
            StateError: What runs models is not installed (the extra `embed`), or the disk fails.
        """
        threads = _thread_count(threads)  # told before files of any size are read
        return cls(_files_of(model), cache=cache, threads=threads)

    @cached_property
    def _encoder(self) -> Encoder:
        encoder = load_encoder(self._files)
        if self._files.dims is not None and encoder.digest != self.digest:
            raise InvalidInputError(f"'{self._files.model}' was changed just now", hint=DAMAGED_HINT)
        return encoder

    @property
    def use(self) -> EmbeddingUse:
        """How many different texts were found in the cache and how many computed, in all calls together."""
        return EmbeddingUse(self._found, self._computed, self._cache.note if self._cache else "")

    @property
    def vectors(self) -> str:
        """SHA-256 (hex) of the vectors of all calls, each of a call once, in order."""
        return self._given.hexdigest()

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of some texts.

        Args:
            texts: Any texts; longer ones than the model reads are cut off there.

        Returns:
            Rows of unit length in the order of the texts, shape (n, dims).

        Raises:
            InvalidInputError: The model has no vector for a text; the error names it.
        """
        keys = list(map(_key, texts))
        places: dict[bytes, int] = {}
        distinct = []
        for key, text in zip(keys, texts, strict=True):
            if key not in places:
                places[key] = len(places)
                distinct.append(text)
        grid = self._embed_distinct(list(places), distinct)
        self._given.update(grid.astype("<i2").tobytes())
        # Sums of squares of whole numbers are exact: the same grid is the same vector on every machine.
        lengths = np.sqrt(np.square(grid, dtype=np.float64).sum(axis=1, keepdims=True))
        vectors = np.asarray(grid / lengths, dtype=np.float32)
        return vectors if len(distinct) == len(keys) else vectors[[places[key] for key in keys]]

    def _embed_distinct(self, keys: list[bytes], texts: list[str]) -> Grid:
        grid = np.empty((len(keys), self.dims), dtype=np.int16)
        known = np.zeros(len(keys), dtype=bool) if self._cache is None else self._cache.fill(grid, keys)
        self._found += int(known.sum())
        missing = np.flatnonzero(~known).tolist()
        if missing:
            self._compute(missing, keys, texts, grid)
        return grid

    def _compute(self, missing: list[int], keys: list[bytes], texts: list[str], grid: Grid) -> None:
        encoder, stopped = self._encoder, Event()

        def fill(places: list[int]) -> None:
            for rows, vectors in encoder.encode([texts[place] for place in places]):
                grid[[places[row] for row in rows]] = vectors
                if stopped.is_set():
                    return

        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embedding")
        try:
            for chunk in _cut(missing, _KEPT_AT_ONCE):
                chunk.sort(key=lambda place: len(texts[place]))  # texts of as many tokens come together
                for task in [pool.submit(fill, part) for part in _cut(chunk, _TEXTS_OF_A_TASK)]:
                    task.result()
                self._computed += len(chunk)
                if self._cache is not None:
                    self._cache.add([keys[place] for place in chunk], grid[chunk])
        finally:
            stopped.set()  # after Ctrl-C no thread begins another text
            pool.shutdown(cancel_futures=True)


def load_embedder(named: str | None) -> Embedder | None:
    """Load the embedder that the settings name; None if they ask for none, or `auto` finds none.

    It keeps vectors in the user's cache. A cache that cannot be used is a note, not an error.
    """
    if named in {None, NO_EMBEDDER}:
        return None
    if named == AUTO:
        files = find_minilm() if all(map(find_spec, ("onnxruntime", "tokenizers"))) else None
        if files is None:
            return None
    else:
        files = _files_of(named)
    return Embedder(files, cache=user_cache(), cache_required=False)


def _files_of(model: str | Path) -> ModelFiles:
    files = find_minilm() if model == MINILM else find_model(model)
    if files is None:
        raise NotFoundError(
            "the known model is not installed", hint=f"{INSTALLING}, or name the folder of a model"
        )
    return files


def _thread_count(threads: object) -> int:
    if threads is None:
        return _usable_cpus()
    if isinstance(threads, bool) or not isinstance(threads, Integral) or int(threads) < 1:
        raise unusable(
            "threads", "a whole number from 1 on", threads, hint="leave it out for as many as there are CPUs"
        )
    return int(threads)


def _usable_cpus() -> int:
    if hasattr(os, "sched_getaffinity"):  # where a process may be bound to some of them
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cut(places: list[int], size: int) -> list[list[int]]:
    return [places[start : start + size] for start in range(0, len(places), size)]


def _key(text: str) -> bytes:
    if not isinstance(text, str):
        raise InvalidInputError(f"texts: expected text, found {type(text).__name__}", hint="fill or drop it")
    try:
        return hashlib.sha256(text.encode("utf-8")).digest()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"'{shortened(visible(text))}' is no Unicode text: it holds a lone surrogate", hint="drop it"
        ) from error
