"""The shared corpus as a slice of the program."""

from typing import Annotated, Final, Literal

from vocabgap.extensions import Extension, PathText, Reference, RootReader, Section, flag, meaning


class CorpusSettings(Section, frozen=True):
    """The folder of the shared corpus, the treatment of false claims, and the age of removable chunks."""

    folder: Annotated[
        PathText, flag("--corpus", "Folder of the shared corpus.", variable="VOCABGAP_CORPUS", written=True)
    ] = "corpus"
    tenant_spoof: Annotated[
        Literal["overwrite", "reject"],
        meaning("What to do with chunks that claim another tenant or repository."),
    ] = "overwrite"
    orphan_version_gap: Annotated[
        int, meaning("Number of later configurations of the tenant after which a chunk may be removed.", ge=1)
    ] = 2


EXTENSION: Final = Extension(
    name="corpus",
    settings=CorpusSettings,
    commands={"corpus": Reference("corpus.commands:CORPUS")},
    purpose="Share",
    reader=RootReader(
        "manifest.json", Reference("corpus.version:is_corpus"), Reference("corpus.chunks:scan_corpora")
    ),
    pages={"how to": ("corpus",)},
    documents={
        "parsed-chunk-v1": "contracts/parsed-chunk-v1.schema.json",
        "backup-record-v1": "contracts/backup-record-v1.schema.json",
        "identity": "contracts/identity.md",
        "deletion-signals": "contracts/deletion-signals.md",
    },
)
