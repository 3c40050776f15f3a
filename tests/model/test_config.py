from pathlib import Path
from typing import Any

import pytest

from builders import write_config
from vocabgap.errors import InvalidInputError
from vocabgap.model.loading import CONFIG_VARIABLE, load_settings, resolve_settings
from vocabgap.model.settings import RankBy, Settings

pytestmark = pytest.mark.usefixtures("here")


def threshold(value: object) -> dict[str, Any]:
    return {"--threshold": value}


def test_without_any_layer_the_defaults_hold() -> None:
    loaded = resolve_settings()

    assert loaded.settings == Settings()
    assert loaded.path is None


def test_load_settings_reads_what_the_command_line_would(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "vocabgap.toml").write_text("[report]\ntop = 4\n", encoding="utf-8")
    monkeypatch.setenv("VOCABGAP_OUT", "weekly")

    report = load_settings().report

    assert (report.top, report.out) == (4, "weekly")


def test_load_settings_gives_the_settings_themselves(tmp_path: Path) -> None:
    path = write_config(tmp_path, "[report]\ntop = 4\n")

    assert (
        load_settings(path, {"VOCABGAP_OUT": "weekly"})
        == resolve_settings(path, {"VOCABGAP_OUT": "weekly"}).settings
    )


def test_a_file_overrides_the_defaults(tmp_path: Path) -> None:
    path = write_config(
        tmp_path, '[cluster]\nthreshold = 0.4\nstop_words = ["photo"]\n[rank]\nby = "sessions"\n'
    )

    loaded = resolve_settings(path)

    assert loaded.path == path
    assert loaded.settings.cluster.threshold == 0.4
    assert loaded.settings.cluster.stop_words == ("photo",)
    assert loaded.settings.rank.by is RankBy.SESSIONS


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    path = write_config(tmp_path, "[cluster]\nthreshold = 0.4\n")

    settings = resolve_settings(path, {"VOCABGAP_THRESHOLD": "0.5"}).settings

    assert settings.cluster.threshold == 0.5


def test_flags_override_the_environment(tmp_path: Path) -> None:
    path = write_config(tmp_path, "[cluster]\nthreshold = 0.4\n")

    settings = resolve_settings(path, {"VOCABGAP_THRESHOLD": "0.5"}, threshold(0.6)).settings

    assert settings.cluster.threshold == 0.6


def test_a_flag_that_was_not_given_leaves_the_layer_below(tmp_path: Path) -> None:
    path = write_config(tmp_path, "[cluster]\nthreshold = 0.4\n")

    settings = resolve_settings(path, flags=threshold(None)).settings

    assert settings.cluster.threshold == 0.4


def test_layers_are_merged_key_by_key(tmp_path: Path) -> None:
    path = write_config(tmp_path, '[report]\nout = "weekly"\ntop = 3\n')

    report = resolve_settings(path, {"VOCABGAP_TOP": "0"}).settings.report

    assert (report.out, report.top) == ("weekly", 0)


def test_the_environment_sets_what_it_may() -> None:
    environment = {
        "VOCABGAP_THRESHOLD": "0.25",
        "VOCABGAP_RANK_BY": "images",
        "VOCABGAP_OUT": "weekly",
        "VOCABGAP_TOP": "5",
    }

    settings = resolve_settings(environment=environment).settings

    assert settings.cluster.threshold == 0.25
    assert settings.rank.by is RankBy.IMAGES
    assert (settings.report.out, settings.report.top) == ("weekly", 5)


def test_an_empty_variable_is_not_set() -> None:
    assert resolve_settings(environment={"VOCABGAP_TOP": "", CONFIG_VARIABLE: ""}).settings == Settings()


def test_the_file_in_the_current_folder_is_found(here: Path) -> None:
    (here / "vocabgap.toml").write_text("[report]\ntop = 4\n", encoding="utf-8")

    assert resolve_settings().settings.report.top == 4


def test_the_environment_names_the_file(tmp_path: Path) -> None:
    path = write_config(tmp_path, "[report]\ntop = 4\n")

    assert resolve_settings(environment={CONFIG_VARIABLE: str(path)}).settings.report.top == 4


def test_a_path_that_was_given_wins_over_the_one_in_the_environment(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("[report]\ntop = 9\n", encoding="utf-8")

    loaded = resolve_settings(write_config(tmp_path, "[report]\ntop = 4\n"), {CONFIG_VARIABLE: str(other)})

    assert loaded.settings.report.top == 4


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    path = write_config(tmp_path, "\ufeff[report]\ntop = 4\n")

    assert resolve_settings(path).settings.report.top == 4


def test_a_whole_number_is_a_threshold(tmp_path: Path) -> None:
    assert (
        resolve_settings(write_config(tmp_path, "[cluster]\nthreshold = 1\n")).settings.cluster.threshold
        == 1.0
    )


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[cluster]\nthreshhold = 0.5\n", "threshhold"),
        ("[clusters]\nthreshold = 0.5\n", "clusters"),
        ('[cluster]\nthreshold = "0.5"\n', "threshold"),
        ("[cluster]\nthreshold = 1.01\n", "threshold"),
        ("[cluster]\nthreshold = -0.1\n", "threshold"),
        ("[cluster]\nthreshold = nan\n", "threshold"),
        ('[cluster]\nstop_words = ["photo", 3]\n', "stop_words"),
        ("cluster = 3\n", "cluster"),
        ('[rank]\nby = "luck"\n', "luck"),
        ("[rank]\nmin_images = -1\n", "[rank] min_images"),
        ("[rank]\nmin_sessions = 1.5\n", "[rank] min_sessions"),
        ("[rank]\nhalf_life_days = 0\n", "[rank] half_life_days"),
        ("[rank]\nhalf_life_days = inf\n", "[rank] half_life_days"),
        ("[rank]\nhalf_life_days = nan\n", "[rank] half_life_days"),
        ("[rank]\nreach_weight = -1\n", "[rank] reach_weight"),
        ("[rank]\nneed_weight = 11\n", "[rank] need_weight"),
        ("[rank]\nrecency_weight = true\n", "[rank] recency_weight"),
        ("[rank]\nwindow_weeks = 2\n", "[rank] window_weeks"),
        ("[rank]\nwindow_weeks = 521\n", "[rank] window_weeks"),
        ("[report]\ntop = -1\n", "top"),
        ("[report]\ntop = 2.5\n", "top"),
        ('[report]\nout = ""\n', "out"),
        ('[ingest]\ntenant = ""\n', "tenant"),
        ("[aliases.categories]\nhue = 7\n", "[aliases.categories] hue: "),
        ('[aliases.operations]\n"tone eq" = ["toneequal"]\n', "[aliases.operations] tone eq: "),
        ("[aliases]\ncategories = 3\n", "[aliases.categories]: expected a table, found 3"),
        ('[aliases.moods]\ncalm = "soft"\n', "moods"),
        ("[cluster.synonyms]\nhaze = 3\n", "[cluster.synonyms] haze: "),
        ('[cluster.synonyms]\nhaze = ["fog", 3]\n', "[cluster.synonyms] haze: "),
        ('[cluster]\nsynonyms = ["fog"]\n', "[cluster.synonyms]: expected a table, found a list"),
        (
            '[cluster.synonyms]\nhaze = ["fog"]\nmist = ["fogs"]\n',
            "[cluster.synonyms]: 'fogs' stands for 'haze' and for 'mist'",
        ),
        (
            '[cluster.synonyms]\nhaze = ["fog"]\nmist = ["haze"]\n',
            "[cluster.synonyms]: 'haze' has synonyms of its own and stands for 'mist'",
        ),
        ('[cluster.synonyms]\nhaze = [" "]\n', "[cluster.synonyms]: a wording of 'haze' is empty"),
        ('[cluster.synonyms]\n"" = ["fog"]\n', "[cluster.synonyms]: a word that others stand for is empty"),
    ],
)
def test_an_error_in_the_file_names_the_file_and_the_setting(text: str, named: str, tmp_path: Path) -> None:
    path = write_config(tmp_path, text)

    with pytest.raises(InvalidInputError) as caught:
        resolve_settings(path)

    assert str(path) in str(caught.value)
    assert named in str(caught.value)


def test_synonyms_that_differ_in_a_stop_word_only_are_the_same(tmp_path: Path) -> None:
    synonyms = '[cluster.synonyms]\nhaze = ["fog"]\nmist = ["photo fog"]\n'
    resolve_settings(write_config(tmp_path, synonyms))

    with pytest.raises(InvalidInputError, match="'photo fog' stands for"):
        resolve_settings(write_config(tmp_path, '[cluster]\nstop_words = ["photo"]\n' + synonyms))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("VOCABGAP_THRESHOLD", "loose"),
        ("VOCABGAP_THRESHOLD", "1.5"),
        ("VOCABGAP_THRESHOLD", "nan"),
        ("VOCABGAP_TOP", "-1"),
        ("VOCABGAP_TOP", "ten"),
        ("VOCABGAP_RANK_BY", "luck"),
    ],
)
def test_an_error_in_the_environment_names_the_variable(variable: str, value: str) -> None:
    with pytest.raises(InvalidInputError, match=variable):
        resolve_settings(environment={variable: value})


@pytest.mark.parametrize("value", [-0.1, 1.01, float("nan"), "loose"])
def test_an_error_in_a_flag_names_the_flag(value: object) -> None:
    with pytest.raises(InvalidInputError, match="--threshold"):
        resolve_settings(flags=threshold(value))


def test_a_bad_value_is_an_error_even_where_a_later_layer_overrides_it(tmp_path: Path) -> None:
    path = write_config(tmp_path, "[cluster]\nthreshold = 7\n")

    with pytest.raises(InvalidInputError, match=r"mine\.toml"):
        resolve_settings(path, flags=threshold(0.5))


def test_bad_toml_names_the_file_and_the_line(tmp_path: Path) -> None:
    path = write_config(tmp_path, "[report]\ntop = \n")

    with pytest.raises(InvalidInputError, match=r"mine\.toml: .*line 2"):
        resolve_settings(path)


def test_a_vocabulary_has_paths_a_threshold_and_a_mapping_of_fields(tmp_path: Path) -> None:
    path = write_config(
        tmp_path,
        '[vocabulary]\npaths = ["packs"]\nthreshold = 0.4\nentries = "data.items"\n'
        '[vocabulary.fields]\nname = "id"\ntags = ["labels", "kind"]\n',
    )

    found = load_settings(path).vocabulary

    assert (found.paths, found.threshold, found.entries) == (("packs",), 0.4, "data.items")
    assert (found.fields.name, found.fields.tags) == ("id", ("labels", "kind"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[vocabulary]\nthreshold = 1.5\n", r"\[vocabulary\] threshold"),
        ('[vocabulary]\npaths = "packs"\n', r"\[vocabulary\] paths"),
        ('[vocabulary.fields]\ntitle = "x"\n', r"\[vocabulary.fields\] there is no setting 'title'"),
    ],
)
def test_a_vocabulary_that_cannot_be_read_so_is_told_by_its_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        load_settings(write_config(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[cluster]\nthreshold = 7\n", "threshold: expected a number <= 1.0, found 7"),
        ('[report]\ntop = "5"\n', "[report] top: expected a whole number, found '5'"),
        ("[rank]\nmin_images = 0.5\n", "[rank] min_images: expected a whole number, found 0.5"),
        ("[rank]\nhalf_life_days = 0\n", "half_life_days: expected a number >= 0.1, found 0"),
        ('[rank]\nby = "luck"\n', "expected one of mentions, images, sessions, unsatisfied, priority, found"),
        ("[ingest]\nhidden = 1\n", "[ingest] hidden: expected true or false, found 1"),
        ("[report]\nout = 2026-05-01\n", "[report] out: expected text, found date"),
        ("[vocabulary]\npaths = [true]\n", "paths: expected text, found True"),
        ("[not_a_gap]\nmine = 3\n", "[not_a_gap] mine: expected text or a list, found 3"),
        (
            "[source.x.where]\nkind = {}\n",
            "[source.x.where] kind: expected true or false or a whole number or a number or text or a list",
        ),
    ],
)
def test_a_value_that_cannot_be_is_told_in_words_with_what_is_expected(
    tmp_path: Path, text: str, told: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_settings(write_config(tmp_path, text))

    assert told in caught.value.message


@pytest.mark.parametrize(
    ("text", "told", "hint"),
    [
        (
            "[cluster]\ntreshold = 0.5\n",
            "[cluster] there is no setting 'treshold'",
            "did you mean 'threshold'?",
        ),
        ("[clutser]\n", "there is no setting 'clutser'", "did you mean 'cluster'?"),
        (
            "[decisions]\nout = 'x'\n",
            "[decisions] there is no setting 'out'",
            "there are file; `vocabgap manual reference-settings",
        ),
        ("threshold = 0.5\n", "there is no setting 'threshold'", "it belongs to [cluster] or [vocabulary]"),
        ("[source.x]\nglobs = 'x'\n", "[source.x] there is no setting 'globs'", "did you mean 'glob'?"),
    ],
)
def test_a_setting_that_is_none_gets_a_proposal(tmp_path: Path, text: str, told: str, hint: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_settings(write_config(tmp_path, text))

    assert told in caught.value.message
    assert hint in caught.value.hint


def test_a_flag_is_told_by_its_name_alone() -> None:
    with pytest.raises(InvalidInputError) as caught:
        resolve_settings(flags=threshold("7"))

    assert caught.value.message == "--threshold: expected a number <= 1.0, found '7'"
