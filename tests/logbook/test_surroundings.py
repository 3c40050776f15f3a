"""What a record knows without being told: the session, and the snapshot that the image is at."""

from pathlib import Path

import pytest

import vocabgap as vg

NOW_AT = "0123456789abcdef" * 4
OLD = "f" * 64


def write_head(image: Path, content: str, **refs: str) -> None:
    (image / "HEAD").write_text(content, encoding="utf-8")
    for name, said in refs.items():
        place = image / "refs" / "heads" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(said, encoding="utf-8")


def snapshot_of(image: Path) -> object:
    return vg.log_gap(image, "x").record["snapshot_hash"]


@pytest.mark.parametrize("head", ["ref: refs/heads/main\n", f"{NOW_AT}\n"])
def test_the_head_is_the_snapshot_or_leads_to_it(image: Path, head: str) -> None:
    write_head(image, head, main=f"{NOW_AT}\n")
    assert snapshot_of(image) == NOW_AT


def test_a_branch_may_stand_for_another(image: Path) -> None:
    write_head(image, "ref: refs/heads/try\n", **{"try": "ref: refs/heads/main", "main": NOW_AT})
    assert snapshot_of(image) == NOW_AT


NOWHERE = (
    "ref: refs/heads/main", "ref: refs/heads/again", "ref: ../secret", "ref: /secret",
    "ref: refs/heads/../../../secret", NOW_AT[:-1], NOW_AT.upper(), "\0", "",
)  # fmt: skip


@pytest.mark.parametrize("head", NOWHERE)
def test_a_head_that_leads_nowhere_is_no_snapshot(image: Path, head: str) -> None:
    (image.parent / "secret").write_text(OLD, encoding="utf-8")
    write_head(image, head, again="ref: refs/heads/again")
    assert snapshot_of(image) is None


@pytest.mark.parametrize("linked", ["HEAD", "refs/heads/main", "refs"])
def test_no_link_is_followed_out_of_the_image(image: Path, linked: str) -> None:
    outside = image.parent / "secret"
    (outside / "heads").mkdir(parents=True)
    for place in (outside / "digest", outside / "heads" / "main"):
        place.write_text(NOW_AT, encoding="utf-8")
    if linked != "HEAD":
        write_head(image, "ref: refs/heads/main")
    (image / linked).parent.mkdir(parents=True, exist_ok=True)
    (image / linked).symlink_to(outside if linked == "refs" else outside / "digest")

    assert snapshot_of(image) is None


def test_the_environment_goes_before_the_image(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_head(image, NOW_AT)
    monkeypatch.setenv("VOCABGAP_SNAPSHOT", OLD)
    monkeypatch.setenv("VOCABGAP_SESSION", "s-7")
    record = vg.log_gap(image, "x").record
    assert (record["snapshot_hash"], record["session_id"]) == (OLD, "s-7")
    record = vg.log_gap(image, "x", snapshot_hash=NOW_AT, session_id="s-8").record
    assert (record["snapshot_hash"], record["session_id"]) == (NOW_AT, "s-8")
