from pathlib import Path

import pytest

from builders import write_config
from vocabgap.model.loading import resolve_settings
from vocabgap.model.record import fold_category, fold_operation


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


@pytest.mark.parametrize("alias", ["film_look", "Film_Look", '"film look"'])
def test_a_category_alias_of_the_file_folds_however_it_is_spelt(alias: str, tmp_path: Path) -> None:
    path = write_config(tmp_path, f'[aliases.categories]\n{alias} = "color"\n')

    aliases = resolve_settings(path).settings.category_aliases

    assert fold_category("film_look", aliases) == fold_category("Film look", aliases) == "color"
