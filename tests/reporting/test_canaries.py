"""What a single folder's log says is not in the page that may leave the machine, wherever it stands."""

import re
from pathlib import Path
from typing import Final

from builders import gap, write_corpus
from builders.reporting import publish
from vocabgap.model.record import LIST_FIELDS, NULLABLE_TEXT_FIELDS, TEXT_FIELDS

# The fields of a record with text, and one that is unknown; `image_id` is what the records claim.
FIELDS: Final = ({*NULLABLE_TEXT_FIELDS, *TEXT_FIELDS, *LIST_FIELDS} - {"image_id"}) | {"reviewer"}
FORMS: Final = (
    "{0}", "sky mask {0}", "sky-{0}-mask", "sky{0}Mask", "<b>{0}</b>", "https://{0}.example/{0}?q={0}",
    "{0}@example.com \u202e{0}", "s\u200bky mask, {0}'s \N{SUNRISE}",
)  # fmt: skip
CLAIMED: Final = 5  # images, each by every record of the one folder


def canary(number: int) -> str:
    return f"qz{number:03}x"


def leaked(page: str) -> list[str]:
    """The canaries of a page, whatever the case, or what separates their letters."""
    return re.findall(r"qz\d+x?", re.sub(r"[^0-9a-z]", "", page.lower()))


def common(number: int) -> list[dict[str, object]]:
    """What all images log: one need with categories, operations and entries that are no secret."""
    message = {
        "intent_category": "tone",
        "operations_involved": ["crop", "blur"],
        "vocabulary_used": ["matte"],
    }
    return [gap("sky mask", session_id=f"{number}-{turn}", **message) for turn in range(2)]


def test_no_canary_of_one_folder_is_in_the_page_whatever_images_it_claims(tmp_path: Path) -> None:
    planted = []
    for number, (field, form) in enumerate(
        (field, form) for field in sorted(FIELDS) for form in FORMS
    ):
        text = form.format(canary(number))
        for claimed in range(CLAIMED):
            record = {
                **common(claimed)[0],
                "image_id": f"claimed-{claimed}",
                "session_id": f"{number}-{claimed}",
            }
            planted.append(
                {**record, field: ["crop", "blur", text] if field in LIST_FIELDS else text}
            )
    images = {f"image-{number}": common(number) for number in range(4)}
    made = publish(tmp_path, write_corpus(tmp_path, {**images, "alone": planted}), share=3)

    page = (made.published.folder / "share.html").read_text(encoding="utf-8")
    assert "sky mask" in page
    assert len(planted) == CLAIMED * len(FIELDS) * len(FORMS)
    assert leaked((made.published.folder / "report.html").read_text(encoding="utf-8"))
    assert leaked(page) == []
