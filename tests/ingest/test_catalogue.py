from collections.abc import Mapping
from fnmatch import fnmatchcase

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vocabgap.ingest.decoding import NATIVE_FIELDS
from vocabgap.ingest.discovery import Catalogue
from vocabgap.ingest.formats import Content, LogKind
from vocabgap.model.record import LOG_NAME
from vocabgap.model.sources import Source, shipped_sources

SUFFIXES = [("", ""), (".gz", "gz"), (".zst", "zst")]

plain_names = st.text(
    st.characters(codec="utf-8", exclude_characters="/*?[\0"), min_size=1, max_size=12
)
globs = st.text("ab.*?[]!-", min_size=1, max_size=6)
names = st.text("ab.[]!-", min_size=1, max_size=6)


def catalogue(**globs_of: str | tuple[str, ...]) -> Catalogue:
    return Catalogue({name: Source(glob=glob) for name, glob in globs_of.items()})


def source_of(path: str, sources: Mapping[str, Source] | Catalogue) -> str | None:
    known = sources if isinstance(sources, Catalogue) else Catalogue(sources)
    kind = known.kind_of(path.rpartition("/")[2], path)
    return None if kind is None else kind.source


@pytest.mark.parametrize(
    ("path", "source"),
    [
        (f"heron-11/{LOG_NAME}", "chemigram"),
        ("heron-11/affordance_gaps.jsonl", "hermes"),
        ("posthog.jsonl", "posthog"),
        ("exports/posthog-2026-04.jsonl", "posthog"),
        ("vocabulary_gaps.json", None),
        ("Vocabulary_Gaps.jsonl", None),
        (f"{LOG_NAME}.bak", None),
        (f"{LOG_NAME}.GZ", None),
        (f"{LOG_NAME}.gz.gz", None),
        ("my-posthog.jsonl", None),
        ("posthog/events.jsonl", None),
    ],
)
def test_shipped_names_are_known_and_no_others(path: str, source: str | None) -> None:
    assert source_of(path, shipped_sources()) == source


@pytest.mark.parametrize(("suffix", "compression"), SUFFIXES)
@pytest.mark.parametrize(
    "glob",
    [
        "gaps.jsonl",
        "ga*.jsonl",
        "exports/gaps.jsonl",
        "exports/ga*.jsonl",
        "gaps.jsonl{}",
        "*{}",
        "gaps*",
    ],
)
def test_a_compressed_log_is_known_by_its_suffix(glob: str, suffix: str, compression: str) -> None:
    name = f"gaps.jsonl{suffix}"

    kind = catalogue(mine=glob.format(suffix)).kind_of(name, f"exports/{name}")

    assert kind is not None
    assert (kind.source, kind.content.compression) == ("mine", compression)


def test_a_name_goes_before_a_pattern_and_the_first_pattern_before_the_others() -> None:
    known = catalogue(broad="*.jsonl", exact="gaps.jsonl", other="oth*.jsonl")

    assert source_of("gaps.jsonl", known) == "exact"
    assert source_of("other.jsonl", known) == "broad"


@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("exports/a.jsonl", True), ("2026/exports/a.jsonl", True), ("a.jsonl", False),
        ("exports/2026/a.jsonl", False), ("exports-2026/a.jsonl", False), ("myexports/a.jsonl", False),
    ],
)  # fmt: skip
def test_folders_of_a_glob_are_matched_from_the_right(path: str, fits: bool) -> None:
    assert (source_of(path, catalogue(mine="exports/*.jsonl")) == "mine") is fits


def test_names_that_only_fit_a_pattern_say_so() -> None:
    known = catalogue(mine=("gaps.jsonl", "wishes-*.jsonl"))

    named, fitting = (known.kind_of(name, name) for name in ("gaps.jsonl", "wishes-1.jsonl"))

    assert (named and named.by_pattern, fitting and fitting.by_pattern) == (False, True)


@pytest.mark.parametrize(("suffix", "compression"), SUFFIXES)
def test_a_root_of_any_name_is_a_record_a_line(suffix: str, compression: str) -> None:
    kind = Catalogue(shipped_sources()).kind_of_root(f"export.txt{suffix}")

    assert kind == LogKind(content=Content(compression=compression))
    assert kind.fields is NATIVE_FIELDS


def test_a_root_that_is_called_like_a_source_is_read_as_one() -> None:
    assert Catalogue(shipped_sources()).kind_of_root("posthog-april.jsonl.zst").source == "posthog"


@given(plain_names)
@example("a\nb")
@example("gaps.jsonl.")
def test_a_name_without_wildcards_fits_itself_and_nothing_that_contains_it(name: str) -> None:
    known = catalogue(mine=name)

    assert source_of(name, known) == "mine"
    assert source_of(f"x{name}", known) is source_of(f"{name}x", known) is None


@given(globs, names)
def test_a_pattern_fits_the_names_that_a_shell_would_take(glob: str, name: str) -> None:
    assert (source_of(name, catalogue(mine=glob)) == "mine") is fnmatchcase(name, glob)
