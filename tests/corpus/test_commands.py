"""`vocabgap corpus`: what it prints, with which exit code, and what it refuses."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from builders import write_config
from builders.command import CommandResult, vocabgap
from vocabgap.model.record import LOG_NAME, SHARED_TENANT

NORTH = ("--tenant", "north", "--repo", "photos")
BYTES = "`vocabgap corpus compact` removes their bytes\n"
PHOTOS = Path("photos")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every command in a folder of its own, 400 columns wide, so that no cell is wrapped."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    for name in ("CONFIG", "CORPUS", "DEBUG", "OUT"):
        monkeypatch.delenv(f"VOCABGAP_{name}", raising=False)


@pytest.fixture
def sound(photos: Path) -> Path:
    """Write three records in two logs, without the line that is no record."""
    log = photos / "fjord" / LOG_NAME
    log.write_text(log.read_text().replace("no json\n", ""))
    return photos


@pytest.fixture
def pushed(sound: Path) -> Path:
    """Push the same into the corpus."""
    assert (
        corpus("push", sound, *NORTH).out
        == "3 records pushed, 3 of them new; 0 withdrawn; 0 errors\n"
    )
    return sound


def corpus(*words: str | Path) -> CommandResult:
    return vocabgap("corpus", *words)


def result(*words: str | Path) -> dict[str, Any]:
    """Return the last event of a command with --json."""
    last: dict[str, Any] = json.loads(vocabgap("--json", "corpus", *words).out.splitlines()[-1])
    return last


def rows() -> int:
    return int(result("status")["measures"]["rows"])


# push


def write_payload(tenant: str, claimed: str) -> None:
    files = [{"tenantId": claimed, "sourcePath": f"{n}.md", "content": "sky"} for n in range(3)]
    Path("p.json").write_text(json.dumps({"tenantId": tenant, "files": files}))


def test_payload_is_pushed_by_its_own_tenant_alone() -> None:
    write_payload("north", "north")

    event = result("push", "p.json", "--tenant", "south", "--repo", "photos")

    assert [error["code"] for error in event["errors"]] == ["KB_INGEST_TENANT_MISMATCH"]
    assert not Path("corpus").exists()
    assert corpus("push", "p.json", *NORTH).code == 0


def test_payload_that_names_its_owner_needs_no_option() -> None:
    owner = {"tenantId": "north", "repoSlug": "mills"}
    file = {"sourcePath": "sails.md", "content": "canvas"}
    whole, parts = {**owner, "files": [file]}, {"files": [{**owner, **file, "sourcePath": "b.md"}]}
    for payload in (whole, parts):
        Path("p.json").write_text(json.dumps(payload))
        assert result("push", "p.json")["tenantId"] == "north"
    assert corpus("list").out.count("mills") == 2


@pytest.mark.parametrize(
    ("payload", "options", "message"),
    [
        ({"repoSlug": "mills"}, (), "--tenant is missing, and no `tenantId`"),
        ({"tenantId": "north"}, (), "--repo is missing, and no `repoSlug`"),
        (
            {"repoSlug": "mills"},
            ("--tenant", "north", "--repo", "dykes"),
            "names repository 'mills'",
        ),
    ],
)
def test_owner_that_is_missing_or_contradicts_is_an_error(
    payload: dict[str, str], options: tuple[str, ...], message: str
) -> None:
    Path("p.json").write_text(json.dumps({**payload, "files": []}))
    output = corpus("push", "p.json", *options)
    assert (output.code, message in output.err, Path("corpus").exists()) == (2, True, False)


def test_folder_names_no_owner(sound: Path) -> None:
    assert "--tenant is missing" in corpus("push", sound).err


@pytest.mark.parametrize(("spoof", "code", "ingested"), [("overwrite", 0, 3), ("reject", 2, 0)])
def test_setting_decides_on_claims(tmp_path: Path, spoof: str, code: int, ingested: int) -> None:
    write_payload("north", "else")
    config = write_config(tmp_path, f'[corpus]\ntenant_spoof = "{spoof}"\n')
    push = ("push", "p.json", *NORTH, "--config", config)

    assert (corpus(*push).code, result(*push)["ingested"]) == (code, ingested)
    assert bool(result(*push)["warnings"]) == (spoof == "overwrite")


def test_faults_of_a_payload_are_named_by_their_place() -> None:
    Path("p.json").write_text('{"files":[{"parsedChunks":[{"schemaVersion":"1.0.0"}]},{"what":1}]}')
    output = corpus("push", "p.json", *NORTH)
    assert (output.code, "KB_PARSED_CHUNK_INVALID: /files/0, chunk 0: " in output.err) == (2, True)
    assert "KB_FILE_PAYLOAD_INVALID: /files/1: " in output.err

    Path("p.json").write_text('{\n"files": oops}')
    output = corpus("push", "p.json", *NORTH)
    assert output.code == 2
    assert "p.json: expected JSON: Expecting value: line 2" in output.err


def test_push_without_a_tenant_or_into_a_folder_of_other_files_is_refused(sound: Path) -> None:
    output = corpus("push", sound, "--tenant", "", "--repo", "photos")
    assert output.code == 2
    assert output.err.startswith("vocabgap: tenant: expected 1 to 64 lower-case letters")
    assert not Path("corpus").exists()

    output = corpus("push", sound, *NORTH, "--corpus", sound)
    assert (output.code, "KB_INGEST_FAILED" in output.err) == (4, True)
    assert sorted(path.name for path in sound.iterdir()) == ["fjord", "heron"]


def test_environment_names_the_corpus(sound: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOCABGAP_CORPUS", "shared")

    corpus("push", sound, *NORTH)

    assert Path("shared", "manifest.json").is_file()
    assert 'folder = "shared"' in vocabgap("status").out


# withdrawal


def test_logs_that_vanished_are_withdrawn_by_name_by_snapshot_or_by_git(pushed: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=Nobody", "-c", "user.email=nobody@example.org")
        subprocess.run(
            ["/usr/bin/env", "git", *who, *words], cwd=pushed, check=True, capture_output=True
        )

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "all")
    present = corpus("push", pushed, *NORTH, "--delete", f"heron/{LOG_NAME}")
    assert (present.code, present.out) == (2, "")
    assert f"'heron/{LOG_NAME}' is to be withdrawn, but it is in '{pushed}'" in present.err
    shutil.rmtree(pushed / "heron")
    git("commit", "-qam", "less")

    for number, signal in enumerate(
        [("--delete", f"heron/{LOG_NAME}"), ("--snapshot",), ("--base", "HEAD~1")]
    ):
        shutil.copytree("corpus", f"copy-{number}")
        output = corpus("push", pushed, *NORTH, *signal, "--corpus", f"copy-{number}")
        assert output.code == 0
        assert output.out == "1 record pushed, 0 of them new; 2 withdrawn; 0 errors\n"
    unknown = corpus("push", pushed, *NORTH, "--base", "no-such")
    outside = corpus("push", pushed, *NORTH, "--base", "HEAD~1", "--git", pushed.parent)
    assert (unknown.code, "KB_REVISION_BOUNDARY_RESOLVER_FAILED" in unknown.err) == (2, True)
    assert (outside.code, "KB_REVISION_BOUNDARY_UNAVAILABLE" in outside.err) == (2, True)


def test_snapshot_of_an_empty_or_another_folder_needs_a_yes(pushed: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copytree(pushed / "heron", tmp_path / "other" / "elsewhere")

    for name in ("empty", "other"):
        refused = corpus("push", name, *NORTH, "--snapshot")
        assert (refused.code, "--yes" in refused.err, rows()) == (2, True, 3)
    assert (
        "has none of the 2 logs of north/photos: all would be withdrawn; nothing was changed"
        in refused.err
    )
    assert corpus("push", "empty", *NORTH, "--snapshot", "--yes").out == (
        "0 records pushed, 0 of them new; 3 withdrawn; 0 errors\n"
    )


# forget, remove-orphans


@pytest.mark.usefixtures("pushed")
def test_forgotten_records_are_left_out_and_replacing_needs_a_yes() -> None:
    corpus("export", "b.jsonl")

    forgotten = corpus("forget", "--tenant", "north", "--path", "heron", "--yes")
    restored, report = corpus("restore", "b.jsonl"), vocabgap("report", "corpus")
    lifted = corpus("forget", "--tenant", "north", "--lift")
    unasked, replaced = (corpus("restore", "b.jsonl", "--replace", *yes) for yes in ([], ["--yes"]))

    left_out = "2 forgotten records left out (forget --lift)"
    assert forgotten == (0, "2 records forgotten, 1 path now empty\n", BYTES)
    assert restored.out == f"1 record restored, 0 of them new; {left_out}\n"
    assert ("film grain" in report.out, "mask the sky" in report.out) == (False, True)
    assert lifted == (0, "2 records may be pushed again\n", "")
    assert (unasked.code, replaced.out) == (2, "3 records restored, 3 of them new; 1 replaced\n")


@pytest.mark.usefixtures("pushed")
def test_lift_refuses_options_that_hashes_cannot_answer() -> None:
    output = corpus("forget", "--tenant", "north", "--lift", "--path", "heron")

    assert output.code == 2
    assert "--lift allows only --tenant, --repo and --name" in output.err


REMOVALS = [("forget", "--tenant", "north"), ("admin", "remove-orphans", "--tenant", "north")]


@pytest.fixture
def outdated(pushed: Path) -> Path:
    """Configure two tenants of the same records twice after they pushed them."""
    corpus("push", pushed, "--tenant", "south", "--repo", "photos")
    for tenant in ("north", "south", "north", "south"):
        output = corpus("admin", "configure", "--tenant", tenant)
    assert output.out == "configuration 2 of south; records of earlier configurations are stale\n"
    return pushed


@pytest.mark.usefixtures("outdated")
@pytest.mark.parametrize("removal", REMOVALS)
def test_removal_shows_records_and_needs_a_yes(removal: tuple[str, ...]) -> None:
    before = Path("corpus", "manifest.json").read_bytes()

    preview, refused = corpus(*removal, "--dry-run"), corpus(*removal)
    between = Path("corpus", "manifest.json").read_bytes()
    done = corpus(*removal, "--yes")

    assert preview.code == 0
    assert preview.out.startswith("3 records")
    assert " would be " in preview.out
    assert (refused.code, refused.out, between == before) == (2, "", True)
    assert (
        "3 records of north? Nothing was changed\n  confirm it with --yes; --dry-run shows"
        in refused.err
    )
    assert (done.code, done.out.startswith("3 records")) == (0, True)
    left = result("status")["identities"]
    assert [(row["tenant_id"], row["records"]) for row in left] == [("south", 3)]


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (
            ("push", PHOTOS, *NORTH, "--delete", f"herron/{LOG_NAME}"),
            f"there is no path 'herron/{LOG_NAME}' of north/photos in the corpus\n",
        ),
        (
            ("forget", *NORTH[:3], "photo", "--yes"),
            "there is no repository 'photo' of tenant 'north'",
        ),
        (
            ("forget", "--tenant", "north", "--path", f"herron/{LOG_NAME}", "--dry-run"),
            "there is no path 'herron/",
        ),
        (("admin", "remove-orphans", "--tenant", "nroth", "--yes"), "there is no tenant 'nroth'"),
        (("admin", "configure", "--tenant", "nroth"), "there is no tenant 'nroth'"),
    ],
)
@pytest.mark.usefixtures("pushed")
def test_unknown_name_gets_the_nearest_one(words: tuple[str | Path, ...], output: str) -> None:
    before = Path("corpus", "manifest.json").read_bytes()

    refused = corpus(*words)

    assert (refused.code, refused.out) == (3, "")
    assert output in refused.err
    assert "\n  did you mean '" in refused.err
    assert Path("corpus", "manifest.json").read_bytes() == before
    assert not Path("p.json").exists()


def test_corpus_that_is_not_there_ends_with_3() -> None:
    for words in (("status",), ("compact",), ("export", "b.jsonl"), REMOVALS[0], REMOVALS[1]):
        output = corpus(*words)
        assert (output.code, "holds no shared corpus" in output.err) == (3, True)
    assert list(Path.cwd().iterdir()) == []


# backups, status


def test_restore_of_a_bad_line_names_it_and_ends_with_2() -> None:
    Path("b.jsonl").write_text('{"id":"x"}\n')

    output = corpus("restore", "b.jsonl")

    assert (output.code, "b.jsonl:1: " in output.err, "embedding" in output.err) == (2, True, True)


# a corpus as a root of the other commands


def test_report_and_its_like_take_a_corpus(photos: Path) -> None:
    for tenant in ("local", "south"):
        corpus("push", photos, "--tenant", tenant, "--repo", "photos")

    report = vocabgap("report", "corpus", "--tenant", "local", "--now", "2026-07-01")
    check = vocabgap("check", "corpus", "--tenant", "local", "--repairs")

    account = "4 lines in 2 logs = 3 records + 0 duplicates + 0 superseded + 1 reject"
    assert (report.code, account in report.out) == (0, True)
    assert (check.code, account in check.out) == (2, True)
    assert "narrowed to tenant local" in vocabgap("status").out
    first = Path("out", "report.md").read_bytes()
    assert vocabgap("report", "--from", "out").code == 0
    assert Path("out", "report.md").read_bytes() == first


@pytest.mark.usefixtures("pushed")
def test_unknown_tenant_ends_with_2_and_another_tenant_is_no_loss() -> None:
    for verb in ("report", "check", "list"):
        output = vocabgap(verb, "corpus", "--tenant", "nroth")
        assert (output.code, output.out) == (2, "")
        assert (
            "no record has tenant 'nroth'\n  check the spelling; no other tenant was read"
            in output.err
        )
    assert corpus("export", "b.jsonl", "--tenant", "nroth").err.endswith("did you mean 'north'?\n")
    assert vocabgap("report", "corpus", "--tenant", "north", "--no-shared", "--quiet").code == 0
    assert "narrowed to tenant north, neo-shared left out\n" in vocabgap("status").out
    assert vocabgap("report", "corpus", "--tenant", "north", "--repo", "foto", "--quiet").code == 2


def test_tenant_that_never_pushed_reads_the_shared_records(pushed: Path) -> None:
    corpus("push", pushed, "--tenant", SHARED_TENANT, "--repo", "neo")

    for words in (
        ("report", "corpus"),
        ("check", "corpus"),
        ("list", "corpus"),
        ("show", "heron", "corpus"),
        ("corpus", "export", "b.jsonl"),
        ("corpus", "list"),
    ):
        output = vocabgap(*words, "--tenant", "south")
        assert (output.code, bool(output.out)) == (0, True)
        assert (
            "no record has tenant 'south'; only the shared records of neo-shared are read\n"
            in output.err
        )
