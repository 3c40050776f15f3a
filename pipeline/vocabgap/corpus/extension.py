"""What the shared corpus adds to the program."""

from typing import Annotated, Final, Literal

import msgspec

from vocabgap.extensions import Extension, Reference, RootReader
from vocabgap.model.section import PathText, Section, flag

DEFAULT_CORPUS: Final = "corpus"
DEFAULT_DIMENSION: Final = 256  # of the vectors that a backup gets of what was pushed


class CorpusSettings(Section, frozen=True):
    """The shared corpus: where it lies, what is done about false claims, and when what is out of date may go.

    Attributes:
        folder: Where the corpus lies.
        tenant_spoof: What is done about chunks that claim another tenant or repository.
        orphan_version_gap: How often a tenant must have been configured anew since a chunk was ingested until
            the chunk may go.
        dimension: Dimensions of the vectors that a backup makes for what was pushed.
    """

    folder: Annotated[PathText, flag("--corpus", "Folder of the shared corpus.")] = DEFAULT_CORPUS
    tenant_spoof: Literal["overwrite", "reject"] = "overwrite"
    orphan_version_gap: Annotated[int, msgspec.Meta(ge=1)] = 2
    dimension: Annotated[int, msgspec.Meta(ge=1, le=65_536)] = DEFAULT_DIMENSION


EXTENSION: Final = Extension(
    name="corpus",
    settings=CorpusSettings,
    written=("folder",),
    variables={"VOCABGAP_CORPUS": "folder"},
    commands={"corpus": Reference("corpus.commands:CORPUS")},
    reader=RootReader(
        "manifest.json", Reference("corpus.manifest:is_corpus"), Reference("corpus.chunks:scan_corpora")
    ),
    pages={"how to": ("corpus",)},
    documents={
        "parsed-chunk-v1": "contracts/parsed-chunk-v1.schema.json",
        "backup-record-v1": "contracts/backup-record-v1.schema.json",
        "identity": "contracts/identity.md",
        "deletion-signals": "contracts/deletion-signals.md",
    },
)
