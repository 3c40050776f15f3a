"""An empty project: a need is logged, drafted as a skill, checked, authored, and its effect is seen."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from builders.command import vocabgap

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
NEED = "rename a layer"
LABEL = "rename layer"
WORDINGS = (NEED, LABEL, "rename the layer")
STEADY = ("crop to a circle", "warp the perspective")


def log(folder: Path, weeks: range, wanted: Sequence[str]) -> None:
    """Logs one gap of each of the needs in each of the weeks."""
    for week in weeks:
        for number, text in enumerate(wanted):
            moment = (BEGIN + timedelta(weeks=week, hours=number)).isoformat()
            named = ("--need", text, "--session", f"{week}-{number}", "--workaround", "by hand")
            assert vocabgap("log", folder, *named, "--timestamp", moment).code == 0


def test_a_skill_is_drafted_checked_and_authored_and_the_next_report_shows_its_effect(
    tmp_path: Path,
) -> None:
    skills, logs = tmp_path / "skills", tmp_path / "logs" / "poster"
    decided, later = ((BEGIN + timedelta(weeks=weeks)).isoformat() for weeks in (6, 14))
    logs.mkdir(parents=True)
    log(logs, range(6), (*WORDINGS, *STEADY))
    assert vocabgap("report", logs.parent, "--now", decided).code == 0

    drafted = vocabgap("draft", NEED, "--as", "skill", "--check")
    assert drafted.code == 0
    skill = skills / "rename-layer" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(drafted.out)
    checked = vocabgap("draft", NEED, "--entry", skill, "--check")
    assert checked.code == 0
    assert checked.out.startswith(f"rename-layer covers 18 of 18 mentions of '{LABEL}'.\nIt passes")
    author = ("decide", "author", NEED, "--entry", "rename-layer", "--actor", "ana")
    assert vocabgap(*author, "--now", decided).code == 0

    log(logs, range(6, 14), STEADY)
    told = vocabgap("report", logs.parent, "--vocabulary", skills, "--now", later).out
    assert f"{LABEL}: gone; authored as rename-layer" in told
    assert "similar: entry rename-layer of pack skills" in vocabgap("show", NEED).out

    told_more = skill.read_text().replace('layer."', 'layer. More of it."', 1)
    (tmp_path / "SKILL.md").write_text(told_more)
    extended = ("draft", NEED, "--entry", tmp_path / "SKILL.md", "--vocabulary", skills)
    assert told_more != drafted.out
    assert vocabgap(*extended, "--check").code == 0
