from pathlib import Path

import pytest

from builders import write_config
from vocabgap.model.loading import resolve_settings
from vocabgap.model.record import fold_category, fold_operation
from vocabgap.model.settings import BY_WORDING, DEFAULT_OUT, DEFAULT_TOP, RankBy, Settings


def test_the_defaults_are_the_documented_ones() -> None:
    settings = Settings()

    assert settings.ingest.tenant == "local"
    assert (settings.cluster.threshold, settings.cluster.stop_words) == (BY_WORDING, ())
    assert settings.rank.by is RankBy.MENTIONS
    assert (settings.rank.min_images, settings.rank.min_sessions) == (1, 0)
    assert (settings.rank.half_life_days, settings.rank.window_weeks) == (90, 12)
    assert settings.rank.reach_weight == settings.rank.need_weight == settings.rank.recency_weight == 1
    assert (settings.report.out, settings.report.top) == (DEFAULT_OUT, DEFAULT_TOP)


def test_aliases_of_the_file_stand_beside_the_built_in_ones(tmp_path: Path) -> None:
    path = write_config(
        tmp_path, '[aliases.categories]\nhue = "color"\n[aliases.operations]\nlocalcontrast = "bilat"\n'
    )

    settings = resolve_settings(path).settings

    assert fold_category("Hue", settings.category_aliases) == "color"
    assert fold_category("tonal", settings.category_aliases) == "tone"
    assert fold_operation("localcontrast", settings.operation_aliases) == "bilat"
    assert fold_operation("toneequalizer", settings.operation_aliases) == "toneequal"


@pytest.mark.parametrize("alias", ["film_look", "Film_Look", '"film look"'])
def test_a_category_alias_of_the_file_folds_however_it_is_spelt(alias: str, tmp_path: Path) -> None:
    path = write_config(tmp_path, f'[aliases.categories]\n{alias} = "color"\n')

    aliases = resolve_settings(path).settings.category_aliases

    assert fold_category("film_look", aliases) == fold_category("Film look", aliases) == "color"


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Settings().cluster.threshold = 0.1  # type: ignore[misc]
