"""What a scan is asked for, checked at its door."""

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.settings.model import IngestSettings


def check_arguments(*, tenant_id: str, hidden: bool, max_expanded_mib: int) -> None:
    """Refuse what the settings would refuse; the bounds are theirs.

    Args:
        tenant_id: Whose records these are.
        hidden: Whether files and folders are searched whose name starts with a dot.
        max_expanded_mib: How many MiB a compressed log may expand to.

    Raises:
        InvalidInputError: One is of another type, or out of bounds.
    """
    for name, setting, value in (
        ("tenant_id", "tenant", tenant_id),
        ("hidden", "hidden", hidden),
        ("max_expanded_mib", "max_expanded_mib", max_expanded_mib),
    ):
        try:
            msgspec.convert({setting: value}, IngestSettings)
        except msgspec.ValidationError as error:
            problem = str(error).partition(" - at ")[0].replace("`", "'")
            raise InvalidInputError(
                f"{name}: {problem}, found {value!r}",
                hint=f"see [ingest] {setting} under Settings in the README",
            ) from error
