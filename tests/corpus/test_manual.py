"""The session of the manual's page on the corpus, and the queries that it has other tools run."""

from pathlib import Path

import pytest

from builders.manual import blocks, session, there

__all__ = ["there"]  # a fixture
CORPUS = "corpus"


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_queries_are_right(there: Path, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(
        engine, reason=f"{engine} is not installed, so its query of the manual is not run"
    )
    assert session(CORPUS, there) > 10
    capsys.readouterr()

    exec("\n".join(blocks("python", CORPUS) + blocks(f"python {engine}", CORPUS)), {})  # noqa: S102

    assert capsys.readouterr().out == blocks("text", CORPUS)[0]
