from pathlib import Path

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
