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
    empty = {"VOCABGAP_TOP": "", CONFIG_VARIABLE: ""}
    assert (resolve_settings().settings, resolve_settings().path) == (Settings(), None)
    assert resolve_settings(environment=empty).settings == Settings()


def test_each_layer_overrides_the_one_below_key_by_key(tmp_path: Path) -> None:
    cluster = 'threshold = 0.4\nstop_words = ["photo"]\n[vocabulary]\npaths = ["packs"]\nthreshold = 0.6\n'
    path = write_config(tmp_path, f'\ufeff[cluster]\n{cluster}[report]\nout = "weekly"\ntop = 3\n')
    environment = {"VOCABGAP_THRESHOLD": "0.5", "VOCABGAP_TOP": "0", "VOCABGAP_RANK_BY": "images"}

    def thresholds(value: object) -> float | str:
        return resolve_settings(path, environment, threshold(value)).settings.cluster.threshold

    alone = resolve_settings(path)
    assert (alone.path, alone.settings.cluster.stop_words) == (path, ("photo",))
    vocabulary = alone.settings.vocabulary
    assert (vocabulary.paths, vocabulary.threshold) == (("packs",), 0.6)
    assert alone.settings.cluster.threshold == 0.4
    assert (thresholds(None), thresholds(0.6), thresholds(1)) == (0.5, 0.6, 1.0)
    settings = resolve_settings(path, environment).settings
    assert (settings.report.out, settings.report.top) == ("weekly", 0)
    assert settings.rank.by is RankBy.IMAGES


def test_the_file_is_named_by_the_caller_else_the_environment_else_found(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named, other = write_config(tmp_path, "[report]\ntop = 4\n"), tmp_path / "other.toml"
    other.write_text("[report]\ntop = 9\n", encoding="utf-8")
    (here / "vocabgap.toml").write_text("[report]\ntop = 5\n", encoding="utf-8")
    environment = {CONFIG_VARIABLE: str(other)}

    tops = [
        resolve_settings(*each).settings.report.top
        for each in ((named, environment), (None, environment), ())
    ]

    assert tops == [4, 9, 5]
    monkeypatch.setenv("VOCABGAP_OUT", "weekly")
    assert (load_settings().report.top, load_settings().report.out) == (5, "weekly")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[report]\ntop = \n", "line 2"),
        ("cluster = 3\n", "[cluster]: expected a table, found 3"),
        ("[cluster]\nthreshold = 7\n", "threshold: expected a number <= 1.0, found 7"),
        ("[cluster]\nthreshold = nan\n", "threshold"),
        ('[report]\ntop = "5"\n', "[report] top: expected a whole number, found '5'"),
        ("[report]\nout = 2026-05-01\n", "[report] out: expected text, found date"),
        ('[rank]\nby = "luck"\n', "expected one of mentions, images, unsatisfied, priority, found"),
        ("[rank]\nhalf_life_days = inf\n", "[rank] half_life_days"),
        ("[ingest]\nhidden = 1\n", "[ingest] hidden: expected true or false, found 1"),
        ("[not_a_gap]\nmine = 3\n", "[not_a_gap] mine: expected text or a list, found 3"),
        ("[source.x.where]\nkind = {}\n", "[source.x.where] kind: expected true or false or"),
        ('[aliases.operations]\n"tone eq" = ["toneequal"]\n', "[aliases.operations] tone eq: "),
        ('[cluster]\nsynonyms = ["fog"]\n', "[cluster.synonyms]: expected a table, found list"),
        ('[cluster.synonyms]\nhaze = ["fog", 3]\n', "[cluster.synonyms] haze: "),
        (
            '[cluster.synonyms]\nhaze = ["fog"]\nmist = ["fogs"]\n',
            "[cluster.synonyms]: 'fogs' is a synonym of both 'haze' and 'mist'",
        ),
        (
            '[cluster.synonyms]\nhaze = ["fog"]\nmist = ["haze"]\n',
            "[cluster.synonyms]: 'haze' has synonyms but is a synonym of 'mist'",
        ),
        ('[cluster.synonyms]\nhaze = [" "]\n', "[cluster.synonyms]: a wording is empty"),
    ],
)
def test_an_error_in_the_file_names_the_file_and_the_setting(
    text: str, named: str, tmp_path: Path
) -> None:
    path = write_config(tmp_path, text)

    with pytest.raises(InvalidInputError) as caught:
        resolve_settings(path)

    assert str(path) in str(caught.value)
    assert named in str(caught.value)


def test_synonyms_that_differ_in_a_stop_word_only_are_the_same(tmp_path: Path) -> None:
    synonyms = '[cluster.synonyms]\nhaze = ["fog"]\nmist = ["photo fog"]\n'
    resolve_settings(write_config(tmp_path, synonyms))

    with pytest.raises(InvalidInputError, match="'photo fog' is a synonym"):
        resolve_settings(write_config(tmp_path, '[cluster]\nstop_words = ["photo"]\n' + synonyms))


@pytest.mark.parametrize(
    ("variable", "value"), [("VOCABGAP_THRESHOLD", "nan"), ("VOCABGAP_TOP", "ten")]
)
def test_an_error_in_the_environment_names_the_variable(variable: str, value: str) -> None:
    with pytest.raises(InvalidInputError, match=variable):
        resolve_settings(environment={variable: value})
    with pytest.raises(
        InvalidInputError, match=r"^--threshold: expected a number <= 1.0, found '7'"
    ):
        resolve_settings(flags=threshold("7"))


def test_a_bad_value_is_an_error_even_where_a_later_layer_overrides_it(tmp_path: Path) -> None:
    path = write_config(tmp_path, "[cluster]\nthreshold = 7\n")

    with pytest.raises(InvalidInputError, match=r"mine\.toml"):
        resolve_settings(path, flags=threshold(0.5))


@pytest.mark.parametrize(
    ("text", "output", "hint"),
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
        ("threshold = 0.5\n", "there is no setting 'threshold'", "there are ingest, cluster, rank"),
        (
            "[source.x]\nglobs = 'x'\n",
            "[source.x] there is no setting 'globs'",
            "did you mean 'glob'?",
        ),
    ],
)
def test_a_setting_that_is_none_gets_a_proposal(
    tmp_path: Path, text: str, output: str, hint: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        load_settings(write_config(tmp_path, text))

    assert output in caught.value.message
    assert hint in caught.value.hint
