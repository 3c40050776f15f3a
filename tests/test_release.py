"""What a release is made of: the wheel in a fresh environment, and the files that hosts and runners read."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import vocabgap as package

PROJECT = Path(__file__).parents[1]
WORKFLOWS = PROJECT / ".github/workflows"
SETTINGS: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")
WRITES = {("publish", "id-token"), ("release", "contents")}


def read_yaml(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    return loaded


def run(*words: str | Path, cwd: Path) -> str:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    environment["VOCABGAP_EMBEDDER"] = "none"
    done = subprocess.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")
        }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist and the wheel, as the build backend makes them."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=PROJECT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def installed(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a fresh environment with the wheel; other packages are those that are here."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=PROJECT)
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / "bin/python"),
        "install",
        "--quiet",
    )
    run(*pip, "--no-deps", "--no-index", built[1], cwd=folder)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder / "bin"


def test_the_sdist_builds_the_same_wheel(built: tuple[Path, Path], tmp_path: Path) -> None:
    sdist, wheel = built
    run("tar", "-xzf", sdist, cwd=tmp_path)
    (source,) = tmp_path.iterdir()

    run(
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        tmp_path / "again",
        cwd=source,
    )

    assert contents(next((tmp_path / "again").iterdir())) == contents(wheel)
    tops = {each.name for each in source.iterdir()}
    assert {"tests", "CITATION.cff", "Dockerfile", ".dockerignore", ".github", "action.yml"} <= tops
    assert not {each for each in tops if each.startswith((".venv", ".hypothesis", "out"))}


def test_the_wheel_holds_the_manual_and_the_demo(built: tuple[Path, Path]) -> None:
    root = PROJECT / "pipeline/vocabgap"
    wanted = {f"vocabgap/{page.relative_to(root)}" for page in root.glob("**/manual/*.md")}
    demo = PROJECT / "data/demo"
    wanted |= {f"vocabgap/demo/{each.relative_to(demo)}" for each in demo.rglob("*.jsonl")}

    assert len(wanted) > 40
    assert wanted | {"vocabgap/py.typed"} <= contents(built[1]).keys()


@pytest.mark.slow
def test_the_installed_program_runs(installed: Path, tmp_path: Path) -> None:
    where = run(
        installed / "python", "-c", "import vocabgap; print(vocabgap.__file__)", cwd=tmp_path
    )
    assert Path(where.strip()).is_relative_to(installed.parent)

    message = run(installed / "vocabgap", "demo", cwd=tmp_path)

    assert "36 capabilities" in message
    assert (tmp_path / "vocabgap-demo/out/report.html").is_file()
    version = f"vocabgap {package.__version__}\n"
    assert run(installed / "python", "-m", "vocabgap", "--version", cwd=tmp_path) == version
    page = run(installed / "vocabgap", "manual", "tutorial", cwd=tmp_path)
    assert page == (PROJECT / "pipeline/vocabgap/manual/tutorial.md").read_text(encoding="utf-8")


def jobs() -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    for path in sorted(WORKFLOWS.glob("*.yml")):
        whole = read_yaml(path)
        for name, job in whole["jobs"].items():
            yield path.stem, name, whole, job


def steps() -> Iterator[dict[str, Any]]:
    for _, _, _, job in jobs():
        yield from job.get("steps", [])


def test_the_versions_that_are_tested_are_the_classifiers() -> None:
    classifiers = SETTINGS["project"]["classifiers"]
    matrix = read_yaml(WORKFLOWS / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]

    assert [f"Programming Language :: Python :: {each}" for each in matrix] == [
        each for each in classifiers if re.search(r":: 3\.\d+$", each)
    ]
    assert SETTINGS["project"]["requires-python"] == f">={matrix[0]}"


def test_scripts_of_workflows_are_sound_and_hold_no_expression() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash to read the scripts with")
    for step in steps():
        assert "${{" not in step.get("run", "")
        subprocess.run([bash, "-n", "-c", step.get("run", ":")], check=True)


@pytest.mark.parametrize(("workflow", "version"), [("ci", r"v\d+"), ("release", r"[0-9a-f]{40}")])
def test_actions_are_named_by_version_and_those_of_a_release_by_commit(
    workflow: str, version: str
) -> None:
    of_jobs = read_yaml(WORKFLOWS / f"{workflow}.yml")["jobs"].values()
    used = [step["uses"] for job in of_jobs for step in job.get("steps", ()) if "uses" in step]

    assert used
    assert all(re.fullmatch(rf"[\w-]+/[\w-]+@{version}", each) for each in used)


def test_no_job_may_write_more_than_it_has_to() -> None:
    granted = set()
    for _, name, whole, job in jobs():
        permissions = job.get("permissions", whole["permissions"])
        assert isinstance(permissions, dict)
        granted |= {(name, scope) for scope, level in permissions.items() if level == "write"}

    assert granted == WRITES


def test_only_what_was_tested_is_published() -> None:
    release = read_yaml(WORKFLOWS / "release.yml")["jobs"]

    assert release["test"]["uses"] == "./.github/workflows/ci.yml"
    assert {"test", "build"} == set(release["publish"]["needs"])
    assert release["release"]["needs"] == "publish"


@pytest.mark.parametrize(
    ("tag", "changelog", "code"),
    [
        (
            f"v{package.__version__}",
            f"## {package.__version__} – today\n\n- New.\n\n## 0.0.9\n\n- Old.\n",
            0,
        ),
        ("v9.9.9", "## 9.9.9\n\n- New.\n", 1),
        (f"v{package.__version__}", "## 0.0.9\n\n- Old.\n", 1),
        (f"v{package.__version__}", f"## {package.__version__} – unreleased\n\n- New.\n", 1),
    ],
)
def test_a_release_has_its_version_and_its_section(
    tmp_path: Path, tag: str, changelog: str, code: int
) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash to run the step with")
    (script,) = [step["run"] for step in steps() if step.get("name") == "tag and changelog"]
    module = tmp_path / "pipeline/vocabgap/__init__.py"
    module.parent.mkdir(parents=True)
    shutil.copy(PROJECT / "pipeline/vocabgap/__init__.py", module)
    (tmp_path / "CHANGELOG.md").write_text(changelog, encoding="utf-8")

    done = subprocess.run(
        [bash, "-e", "-c", script], cwd=tmp_path, env={**os.environ, "TAG": tag}, check=False
    )

    assert done.returncode == code
    if code == 0:
        assert (tmp_path / "notes/notes.md").read_text(encoding="utf-8").strip() == "- New."


def test_the_image_is_built_from_what_is_there() -> None:
    text = (PROJECT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    ignore = (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [
        source
        for words in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE)
        for source in words.split()[:-1]
    ]

    assert copied
    for source in copied:
        assert (PROJECT / source).exists()
        assert f"!{source.split('/')[0]}" in ignore
    extras = {extra for group in re.findall(r"\.\[([\w,]+)\]", text) for extra in group.split(",")}
    assert extras == {"embed"} <= SETTINGS["project"]["optional-dependencies"].keys()
    last = text[text.rindex("\nFROM ") :]
    assert "pip install" not in last
    assert last.index("\nUSER vocabgap\n") < last.index('\nENTRYPOINT ["vocabgap"]\n')
    assert all(
        f"Programming Language :: Python :: {each}" in SETTINGS["project"]["classifiers"]
        for each in re.findall(r"^FROM python:(\S+)-slim", text, re.MULTILINE)
    )


def test_what_is_cited_is_this_version() -> None:
    citation = read_yaml(PROJECT / "CITATION.cff")

    assert {"cff-version", "message", "title", "authors", "type"} <= citation.keys()
    assert (citation["cff-version"], citation["version"]) == ("1.2.0", package.__version__)
    assert citation["license"] == SETTINGS["project"]["license"]
    assert citation["abstract"] == SETTINGS["project"]["description"]
    assert citation["keywords"] == SETTINGS["project"]["keywords"]
