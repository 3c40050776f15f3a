from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

import vocabgap as vg
from builders import gap, write_corpus
from vocabgap import pipeline
from vocabgap.doors.cli.app import run as command
from vocabgap.errors import NotFoundError, StateError
from vocabgap.glossary.authoring import deprecate_sense
from vocabgap.glossary.checkpoints import waiting_folder
from vocabgap.glossary.conflicts import Strictness
from vocabgap.glossary.event_log import read_events
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.runtime import configured_runtime
from vocabgap.model.settings import Settings
from vocabgap.reporting.waiting import Blocked, publish_waiting
from vocabgap.reporting.writing import Published

NOW = datetime(2026, 7, 1, tzinfo=UTC)
REGION, DISGUISE = "A region of an image", "What hides a face"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    return write_corpus(
        tmp_path, {"heron": [gap("sky mask"), gap("film grain")], "fjord": [gap("mask the sky")]}
    )


def settings_with(tmp_path: Path, *meanings: str, strictness: str = "medium") -> Settings:
    folder = tmp_path / "glossary"
    folder.mkdir()
    listed = "".join(f"  - surface: mask\n    definition: {meaning}\n" for meaning in meanings)
    (folder / "team_domain.yaml").write_text(f"terms:\n{listed}", encoding="utf-8")
    return Settings().with_table(GlossarySettings(folder=str(folder), strictness=strictness))  # type: ignore[arg-type]


def stopped(photos: Path, tmp_path: Path) -> tuple[Settings, Blocked]:
    settings = settings_with(tmp_path, REGION, DISGUISE)
    blocked = vg.run(photos, tmp_path / "out", settings=settings, now=NOW).blocked
    assert blocked is not None
    return settings, blocked


def _folder(settings: Settings, blocked: Blocked) -> Path:
    return waiting_folder(configured_runtime(settings.of(GlossarySettings)).logs, blocked.retry_token)


def publish_settled(
    settings: GlossarySettings,
    token: str,
    out: Path | None = None,
    strictness: Strictness | None = None,
) -> Published:
    published = publish_waiting(settings, token, out=out, strictness=strictness)
    assert isinstance(published, Published)
    return published


def test_report_says_what_its_words_mean(photos: Path, tmp_path: Path) -> None:
    made = vg.run(photos, tmp_path / "out", settings=settings_with(tmp_path, REGION), now=NOW)

    terms = made.published.manifest.terms
    assert terms is not None
    assert [(each.label, [m.term for m in each.meanings], each.open) for each in terms.capabilities] == [
        ("sky mask", ["mask"], ())
    ]
    for name in ("report.md", "report.html"):
        text = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "What the words mean" in text
        assert REGION in text


def test_term_of_the_glossary_counts_however_it_is_spelled(tmp_path: Path) -> None:
    settings = settings_with(tmp_path, REGION)
    runtime = configured_runtime(settings.of(GlossarySettings))
    (runtime.folder / "core_domain.yaml").write_text(
        "terms: [{surface: roll-off, definition: How slowly lights go over into white}]", encoding="utf-8"
    )

    made = vg.run(
        write_corpus(tmp_path, {"heron": [gap("soft roll-off")]}),
        tmp_path / "out",
        settings=settings,
        now=NOW,
    )

    terms = made.published.manifest.terms
    assert terms is not None
    assert [m.term for each in terms.capabilities for m in each.meanings] == ["roll-off"]


def test_report_without_a_glossary_says_nothing_of_words(photos: Path, tmp_path: Path) -> None:
    made = vg.run(photos, tmp_path / "out", now=NOW)

    assert made.published.manifest.terms is None
    assert "What the words mean" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_contested_word_publishes_nothing_and_says_how_to_go_on(photos: Path, tmp_path: Path) -> None:
    settings, blocked = stopped(photos, tmp_path)

    assert not (tmp_path / "out").exists()
    assert "'mask'. Nothing was published." in blocked.message
    assert f"report --resume {blocked.retry_token}" in blocked.hint
    assert (_folder(settings, blocked) / "run.json").is_file()


def test_question_is_asked_beside_one_wording_that_uses_the_word(photos: Path, tmp_path: Path) -> None:
    _, blocked = stopped(photos, tmp_path)

    assert [conflict.context for conflict in blocked.conflicts] == ["sky mask"]


@pytest.mark.parametrize(
    ("listed", "written"),
    [
        ("white balance", "white balance"),
        ("white-balance", "white-balance"),
        ("white_balance", "white_balance"),
        ("whitebalance", "whiteBalance"),
        ("whitebalance", "WhiteBalance"),
    ],
)
def test_contested_word_stops_a_report_however_it_is_written(
    listed: str, written: str, tmp_path: Path
) -> None:
    logs = write_corpus(tmp_path, {"heron": [gap(f"{written} of the sky")]})
    settings = settings_with(tmp_path, REGION, DISGUISE)
    seeds = tmp_path / "glossary" / "team_domain.yaml"
    seeds.write_text(seeds.read_text(encoding="utf-8").replace("surface: mask", f"surface: {listed}"))

    run = vg.run(logs, tmp_path / "out", settings=settings, now=NOW)

    assert run.blocked is not None
    assert "Nothing was published" in run.blocked.message
    assert repr(run).startswith("Run(blocked, ")


def test_what_waits_is_published_once_the_word_is_settled(photos: Path, tmp_path: Path) -> None:
    settings, blocked = stopped(photos, tmp_path)
    deprecate_sense(configured_runtime(settings.of(GlossarySettings)), "mask", None, DISGUISE)

    made = publish_settled(settings.of(GlossarySettings), blocked.retry_token)

    assert made.folder == (tmp_path / "out").resolve()
    assert REGION in (made.folder / "report.md").read_text(encoding="utf-8")
    assert not _folder(settings, blocked).exists()
    with pytest.raises(NotFoundError, match="no report waits"):
        publish_settled(settings.of(GlossarySettings), blocked.retry_token)


def test_what_is_resumed_is_what_a_new_run_would_publish(photos: Path, tmp_path: Path) -> None:
    settings, blocked = stopped(photos, tmp_path)
    deprecate_sense(configured_runtime(settings.of(GlossarySettings)), "mask", None, DISGUISE)
    publish_settled(settings.of(GlossarySettings), blocked.retry_token)

    vg.run(photos, tmp_path / "anew", settings=settings, now=NOW)

    for name in ("report.md", "report.html"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "anew" / name).read_bytes()


def test_what_is_not_settled_goes_on_waiting_under_its_token(photos: Path, tmp_path: Path) -> None:
    settings, blocked = stopped(photos, tmp_path)

    again = publish_waiting(settings.of(GlossarySettings), blocked.retry_token)
    made = publish_settled(
        settings.of(GlossarySettings), blocked.retry_token, strictness=Strictness.OFF, out=tmp_path / "else"
    )

    assert isinstance(again, Blocked)
    assert again.retry_token == blocked.retry_token
    assert made.folder == (tmp_path / "else").resolve()


def test_nothing_is_kept_of_a_report_that_is_published(photos: Path, tmp_path: Path) -> None:
    settings, blocked = stopped(photos, tmp_path)
    publish_settled(settings.of(GlossarySettings), blocked.retry_token, strictness=Strictness.OFF)

    assert list(_folder(settings, blocked).parent.iterdir()) == []


def test_report_that_is_stopped_again_has_one_token_that_leads_to_it(photos: Path, tmp_path: Path) -> None:
    settings, blocked = stopped(photos, tmp_path)
    publish_waiting(settings.of(GlossarySettings), blocked.retry_token)

    assert configured_runtime(settings.of(GlossarySettings)).newest() == blocked.retry_token


def test_nothing_is_kept_of_a_report_that_was_not_written(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_with(tmp_path, REGION, DISGUISE)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "report", interrupted)
    with pytest.raises(KeyboardInterrupt):
        vg.run(photos, tmp_path / "out", settings=settings, now=NOW)

    assert list((tmp_path / "glossary" / "events" / "steps").iterdir()) == []


def test_report_is_published_once_by_whoever_is_first(photos: Path, tmp_path: Path) -> None:
    settings, blocked = stopped(photos, tmp_path)
    publish = partial(publish_settled, settings.of(GlossarySettings), strictness=Strictness.OFF)

    with ThreadPoolExecutor(3) as pool:
        tried = [pool.submit(publish, blocked.retry_token) for _ in range(3)]
    told = [each.exception() for each in tried]

    assert sum(each is None for each in told) == 1
    assert [str(each).startswith("no report waits") for each in told if each is not None] == [True, True]


def test_report_of_which_nothing_is_kept_is_made_again(photos: Path, tmp_path: Path) -> None:
    settings, blocked = stopped(photos, tmp_path)
    _folder(settings, blocked).with_suffix(".json").unlink()
    with pytest.raises(StateError, match="damaged or lost"):
        publish_settled(settings.of(GlossarySettings), blocked.retry_token)


def test_report_whose_gate_has_opened_still_waits_to_be_published(photos: Path, tmp_path: Path) -> None:
    settings, blocked = stopped(photos, tmp_path)
    runtime = configured_runtime(settings.of(GlossarySettings))
    runtime.resume(blocked.retry_token, strictness=Strictness.OFF)
    deprecate_sense(runtime, "mask", None, DISGUISE)
    runtime.resume(blocked.retry_token)

    assert (
        publish_settled(settings.of(GlossarySettings), blocked.retry_token).folder
        == (tmp_path / "out").resolve()
    )


def test_off_checks_nothing(photos: Path, tmp_path: Path) -> None:
    settings = settings_with(tmp_path, REGION, DISGUISE, strictness="off")

    made = vg.run(photos, tmp_path / "out", settings=settings, now=NOW)

    assert made.published.manifest.terms is None
    assert read_events(configured_runtime(settings.of(GlossarySettings)).logs).events == ()


def test_glossary_that_does_not_exist_is_told(photos: Path, tmp_path: Path) -> None:
    settings = Settings().with_table(GlossarySettings(folder=str(tmp_path / "none")))
    with pytest.raises(NotFoundError, match="not initialized"):
        vg.run(photos, tmp_path / "out", settings=settings, now=NOW)


def test_share_page_says_nothing_of_words(photos: Path, tmp_path: Path) -> None:
    vg.run(photos, tmp_path / "out", settings=settings_with(tmp_path, REGION), now=NOW, share=2)
    assert REGION not in (tmp_path / "out" / "share.html").read_text(encoding="utf-8")


def test_command_line_stops_with_4_and_publishes_what_waits(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings_with(tmp_path, REGION, DISGUISE)
    stopped_with = command(["report", str(photos), "--glossary", "glossary", "--strictness", "medium", "-q"])
    answer, resume = [
        part.split("`")[0].split()[1:] for part in capsys.readouterr().err.split("`vocabgap")[1:]
    ]
    answer = ["glossary", *answer, "--select", "1"]
    resume = ["report", *resume]

    codes = [stopped_with, command(answer), command(["glossary", "resume", *resume[2:]])]
    told = capsys.readouterr().err
    codes.append(command(resume))

    assert codes == [4, 0, 0, 0]
    waits = f"`vocabgap report --resume {resume[2]} --glossary glossary`"
    assert f"a report waits under this token: {waits}" in told
    assert (tmp_path / "out" / "report.html").is_file()


def test_report_needs_roots_unless_one_waits(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["report"]) == 2
    assert "no folder of gap logs was named" in capsys.readouterr().err


def test_authored_entry_is_a_term_and_a_draft_is_a_proposal(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = settings_with(tmp_path, REGION)
    command(["report", str(photos), "-q"])

    codes = [
        command(["decide", "author", "film grain", "--entry", "film_grain", "--glossary", "glossary"]),
        command(["draft", "sky mask", "--glossary", "glossary"]),
    ]

    glossary = configured_runtime(settings.of(GlossarySettings)).load().glossary
    authored = glossary.meaning("film grain")
    drafts = [each.definition for each in glossary if each.status.value == "draft"]
    assert codes == [0, 0]
    assert authored is not None
    assert authored.definition == "Authored for: film grain"
    assert len(drafts) == 1
