"""A push of logs of other programs: of what they hold, only the gaps."""

from pathlib import Path

from builders.command import vocabgap
from ingest import test_documents as documents
from ingest import test_traces as traces
from vocabgap.ingest.scanning import scan


def test_a_corpus_takes_of_a_span_only_what_is_read(tmp_path: Path) -> None:
    private = traces.attribute("gen_ai.tool.call.arguments", traces.CANARY)
    traces.put(
        tmp_path,
        traces.export(traces.span("Unknown tool: mask_sky", "mask_sky", private, events=[private])),
    )
    corpus = tmp_path / "corpus"

    result = vocabgap(
        "corpus", "push", tmp_path / "desk", "--tenant", "a", "--repo", "b", "--corpus", corpus
    )

    assert result.code == 0, result.err
    assert scan(corpus).records["missing_capability"].to_list() == ["mask_sky"]
    assert not any(
        traces.CANARY.encode() in path.read_bytes() for path in corpus.rglob("*") if path.is_file()
    )


def test_a_document_is_pushed_to_a_corpus_element_by_element(tmp_path: Path) -> None:
    documents.put(tmp_path, "agent_output.json", documents.OUTPUT)
    corpus = tmp_path / "corpus"

    result = vocabgap(
        "corpus", "push", tmp_path / "ci", "--tenant", "north", "--repo", "demo", "--corpus", corpus
    )

    assert result.code == 0, result.err
    here = scan(tmp_path / "ci").records
    there = scan(corpus).records
    assert there["record_id"].sort().to_list() == here["record_id"].sort().to_list()
    assert there["missing_capability"].to_list() == here["missing_capability"].to_list()


def test_a_push_takes_no_other_columns_of_a_document(tmp_path: Path) -> None:
    root, corpus = tmp_path / "shop", tmp_path / "corpus"
    root.mkdir()
    (root / "wishes.json").write_text('[{"wish": "gift wrapping", "mail": "ada@example.org"}]')
    (tmp_path / "own.toml").write_text(
        '[source.wishes]\nglob = "wishes.json"\neach = "/*"\nfields = { description = "wish" }\n'
    )
    owner = ("--tenant", "a", "--repo", "b", "--config", tmp_path / "own.toml", "--corpus", corpus)

    result = vocabgap("corpus", "push", root, *owner)

    assert result.code == 0, result.err
    assert scan(
        root,
        sources={
            "wishes": {"glob": "wishes.json", "each": "/*", "fields": {"description": "wish"}}
        },
    ).gaps["other"].to_list() == ['{"mail":"ada@example.org"}']
    assert not any(b"ada@" in path.read_bytes() for path in corpus.rglob("*") if path.is_file())
