"""The needs of a run that are nearest to a text."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from msgspec import structs

import vocabgap as vg
from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.clustering import embedder
from vocabgap.errors import NotFoundError
from vocabgap.listing import finding
from vocabgap.listing.finding import named, nearest_needs
from vocabgap.model.frames import need
from vocabgap.reporting.manifest import Model
from vocabgap.reporting.published_run import PublishedRun, read_published

NOW = datetime(2026, 7, 1, tzinfo=UTC)
DEMO = Path(__file__).parents[2] / "data" / "demo"
SENSES = ("clouds sky", "speck dust", "grain", "blurred background")  # one axis each


class Stub:
    """A model that knows the senses of a few words, and counts the texts that it embeds."""

    name = "stub"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.texts += texts
        rows = np.array([[_hits(text, sense) for sense in SENSES] for text in texts], np.float32)
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))


def _hits(text: str, sense: str) -> int:
    return sum(word in text.lower() for word in sense.split())


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Stub:
    stub = Stub()
    monkeypatch.setattr(embedder, "_files_of", lambda _: None)
    monkeypatch.setattr(embedder, "Embedder", lambda *_, **__: stub)
    return stub


def published(folder: Path, gaps: Sequence[dict[str, Any]], *, model: bool = True) -> PublishedRun:
    vg.run(write_corpus(folder, {"fjord": gaps}), out="out", now=NOW)
    run = read_published("out")
    used = Model("stub", "", "") if model else None
    cluster = structs.replace(run.manifest.settings.cluster, embedder="stub")
    settings = structs.replace(run.manifest.settings, cluster=cluster)
    assert run.manifest.parameters is not None
    parameters = structs.replace(run.manifest.parameters, settings=settings)
    return dataclasses.replace(
        run, manifest=structs.replace(run.manifest, model=used, parameters=parameters)
    )


GAPS = (
    gap("", missing_capability="sky mask", intent="calm a clouds area"),
    gap("", missing_capability="dust removal", intent="clean the sky", count=2),
    gap("the grain is too fine", missing_capability="film grain size", intent=""),
)


def test_a_need_is_as_near_as_its_wording_intent_and_description_say(
    tmp_path: Path, model: Stub
) -> None:
    near = nearest_needs("darker clouds", published(tmp_path, GAPS))

    # An empty field counts as the wording: of the dust, only the intent is about the sky.
    assert near.select("label", "similarity").rows() == [
        ("sky mask", 1.0), ("dust removal", 0.3333), ("film grain size", 0.0),
    ]  # fmt: skip
    assert near.columns == ["capability_id", "rank", "label", "mentions", "similarity"]
    assert model.texts[0] == "darker clouds"


def test_equally_near_needs_are_ordered_by_rank_and_rows_by_no_order(
    tmp_path: Path, model: Stub
) -> None:
    run = published(tmp_path, GAPS)
    shuffled = dataclasses.replace(run, capabilities=run.capabilities.reverse())

    near = nearest_needs("something else", shuffled)

    assert near["rank"].to_list() == [1, 2, 3]
    assert near.equals(nearest_needs("something else", run))
    assert model.texts


def test_the_nearest_is_that_of_a_count_over_all_records(tmp_path: Path, model: Stub) -> None:
    random = np.random.default_rng(3)
    words = ["sky", "dust", "speck", "grain", "blurred", "background", "mask", "tool"]
    drawn = [[" ".join(random.choice(words, 3)) for _ in range(3)] for _ in range(30)]
    run = published(
        tmp_path,
        [gap(text, missing_capability=wanted, intent=why) for text, wanted, why in drawn],
    )

    (query,) = model.embed(["dust in a blurred sky"])
    best: dict[str, list[float]] = {}
    for row in vg.list_gaps(tmp_path, out="out").iter_rows(named=True):
        texts = [need(row["missing_capability"]), row["intent"], row["description"]]
        own = best.setdefault(row["capability_id"], [-1.0] * 3)
        own[:] = map(max, own, (model.embed(texts) @ query).tolist())
    found = dict(
        nearest_needs("dust in a blurred sky", run).select("capability_id", "similarity").rows()
    )

    assert found == pytest.approx({name: sum(own) / 3 for name, own in best.items()}, abs=1e-4)


def test_only_the_newest_records_of_the_nearest_wordings_are_embedded(
    tmp_path: Path, model: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [gap("", missing_capability="sky mask", intent=f"why {day}",
                timestamp=f"2026-05-{day:02}T10:00:00Z") for day in range(1, 21)]  # fmt: skip
    run = published(tmp_path, [*many, gap("", missing_capability="film grain", intent="print it")])
    monkeypatch.setattr(finding, "CANDIDATES", 1)

    near = nearest_needs("clouds", run)

    assert near["label"].to_list() == ["sky mask"]
    assert {text for text in model.texts if text.startswith("why")} == {
        f"why {day}" for day in range(13, 21)
    }
    assert "print it" not in model.texts


def test_a_run_without_a_model_is_compared_by_words(tmp_path: Path, model: Stub) -> None:
    run = published(tmp_path, GAPS, model=False)

    near = nearest_needs("clean off the dust", run)

    assert near["label"].to_list()[0] == "dust removal"
    assert nearest_needs("xylophone", run).is_empty()
    assert not model.texts


def test_an_unknown_name_proposes_the_nearest_else_a_spelling(tmp_path: Path, model: Stub) -> None:
    run = published(tmp_path, GAPS)

    with pytest.raises(NotFoundError) as caught:
        named(run, "film grian with clouds")

    assert caught.value.hint == (
        "nearest needs: 'sky mask' (1.00), 'dust removal' (0.33), 'film grain size' (0.00);"
        " --run chooses another run"
    )
    assert model.texts
    by_words = dataclasses.replace(run, manifest=structs.replace(run.manifest, model=None))
    for name, hint in (
        ("fylm grian", "nearest needs: 'film grain size'"),
        ("?", "there are 3, such"),
    ):
        with pytest.raises(NotFoundError, match=hint):
            named(by_words, name)


Command = Callable[[str], tuple[str, ...]]


@pytest.mark.parametrize(
    "command",
    [
        lambda name: ("show", name, "photos"),
        lambda name: ("show", name, "photos", "--kind", "capability"),
        lambda name: ("show", name),
        lambda name: ("decide", "pin", name),
        lambda name: ("decide", "merge", "dust removal", name),
        lambda name: ("draft", name),
        lambda name: ("history", name),
    ],
)
@pytest.mark.parametrize("name", ["an end to all dust", "dust \x1b[0m\x07"])
def test_every_command_that_names_a_need_proposes_the_nearest(
    photos: Path, command: Command, name: str
) -> None:
    vg.run(photos, out="out", now=NOW)

    result = vocabgap(*command(name))

    assert (result.code, result.out) == (3, "")
    assert "nearest needs: 'dust removal' (" in result.err
    assert not {"\x1b", "\x07"} & {*result.err}


def test_a_list_begins_with_the_needs_that_are_like_a_text(photos: Path) -> None:
    vg.run(photos, out="out", now=NOW)

    listed = vocabgap("list", photos, "--like", "sky", "--limit", "3").out
    narrowed = vocabgap("--json", "list", photos, "--like", "sky", "--image", "heron").out

    assert listed.startswith("nearest needs:\n  1. sky mask: 2 mentions, similarity 0.")
    lines = [line.strip() for line in listed.splitlines()]
    shown = [line for line in lines if line in {"sky mask", "mask the sky", "film grain"}]
    assert shown == ["sky mask", "mask the sky", "film grain"]
    *gaps, result = map(json.loads, narrowed.splitlines())
    assert [each["description"] for each in gaps] == [
        "mask the sky", "film grain", "film grain size",
    ]  # fmt: skip
    assert [each["mentions"] for each in result["nearest"]] == [2]
    assert result["totals"]["records"] == 3


@pytest.mark.parametrize("text", ["", " \t"])
def test_a_blank_text_is_like_no_need(photos: Path, model: Stub, text: str) -> None:
    run = published(photos, GAPS)

    listed = vocabgap("list", photos, "--like", text)
    assert (listed.code, listed.out) == (2, "")
    assert "like: expected words that describe a need, found '" in listed.err
    with pytest.raises(NotFoundError, match=r"no capability is called '' .there are 3, such"):
        named(run, text)
    assert not model.texts


def test_a_list_tells_that_it_is_by_words_and_that_nothing_is_near(photos: Path) -> None:
    vg.run(photos, out="out", now=NOW)
    by_words = "compared by words: this run was made without a model\n"

    near = vocabgap("list", photos, "--like", "sky").err
    far = vocabgap("list", photos, "--like", "zzz qqq").err

    assert by_words in near
    assert by_words in far
    assert ["no need is near this text" in said for said in (near, far)] == [False, True]


def test_a_list_like_a_text_needs_a_run(photos: Path) -> None:
    result = vocabgap("list", photos, "--like", "sky")

    assert (result.code, result.out) == (3, "")
    assert "has no run of vocabgap" in result.err
    assert "run `vocabgap report`" in result.err


@pytest.mark.usefixtures("minilm")
def test_the_known_model_finds_needs_in_words_that_no_record_uses(tmp_path: Path) -> None:
    vg.run(DEMO, out=tmp_path / "demo", now="last")
    run = read_published(tmp_path / "demo")
    assert run.manifest.model is not None

    for question, label in (
        ("make only the clouds darker", "sky selection mask"),
        ("get rid of electricity lines", "overhead wire removal"),
        ("specks caused by a dirty camera chip", "automatic sensor dust spot removal"),
    ):
        near = nearest_needs(question, run)
        assert (question, near["label"][0]) == (question, label)
        assert near["similarity"].is_sorted(descending=True)
        assert near.schema["similarity"] == pl.Float64
