from pathlib import Path

import pytest

from builders import write_config
from vocabgap.errors import InvalidInputError
from vocabgap.model.loading import resolve_settings
from vocabgap.model.record import fold_category, fold_operation
from vocabgap.model.settings import known_settings, shared_from


def test_numbers_that_no_file_sets_have_their_defaults() -> None:
    numbers = {
        f"{setting.table}.{setting.key}": setting.default
        for setting in known_settings()
        if isinstance(setting.default, int | float)
    }

    assert numbers.items() >= {
        "ingest.hidden": False, "ingest.max_expanded_mib": 1_024, "rank.min_images": 1,
        "rank.min_sessions": 0, "rank.half_life_days": 90.0, "rank.window_weeks": 12,
        "report.top": 10, "report.allow_empty": False, "vocabulary.threshold": 0.28,
        "categories.reclassify": False,
    }.items()  # fmt: skip


def test_what_is_shared_is_on_two_images_or_by_default_on_three() -> None:
    assert (shared_from(None), shared_from(2)) == (3, 2)
    with pytest.raises(InvalidInputError, match="needs of a single image"):
        shared_from(1)


def test_aliases_of_the_file_stand_beside_the_built_in_ones(tmp_path: Path) -> None:
    path = write_config(
        tmp_path,
        '[aliases.categories]\nhue = "color"\n[aliases.operations]\nlocalcontrast = "bilat"\n',
    )

    settings = resolve_settings(path).settings

    assert fold_category("Hue", settings.category_aliases) == "color"
    assert fold_category("tonal", settings.category_aliases) == "tone"
    assert fold_operation("localcontrast", settings.operation_aliases) == "bilat"
    assert fold_operation("toneequalizer", settings.operation_aliases) == "toneequal"
