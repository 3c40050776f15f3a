"""What a push answers: the contract's result object and the codes of its errors."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from vocabgap.errors import ExitCode, VocabgapError


class Code(StrEnum):
    """Why something was refused or failed. The list is the contract's."""

    FILES_INVALID = "KB_INGEST_FILES_INVALID"
    TENANT_MISMATCH = "KB_INGEST_TENANT_MISMATCH"
    FAILED = "KB_INGEST_FAILED"
    FILE_INVALID = "KB_FILE_PAYLOAD_INVALID"
    PARSE_FAILED = "KB_FILE_PARSE_FAILED"
    NO_PARSER = "KB_PARSER_NOT_REGISTERED"
    EMBEDDING_REJECTED = "KB_PARSED_CHUNK_EMBEDDING_REJECTED"
    CHUNK_INVALID = "KB_PARSED_CHUNK_INVALID"
    SPOOF_REJECTED = "KB_TENANT_SPOOF_REJECTED"
    DELETE_SIGNAL_INVALID = "KB_DELETE_SIGNAL_INVALID"
    TOMBSTONE_INVALID = "KB_TOMBSTONE_INVALID"
    MANIFEST_INVALID = "KB_MANIFEST_INVALID"
    BOUNDARY_INVALID = "KB_REVISION_BOUNDARY_INVALID"
    BOUNDARY_UNAVAILABLE = "KB_REVISION_BOUNDARY_UNAVAILABLE"
    BOUNDARY_FAILED = "KB_REVISION_BOUNDARY_RESOLVER_FAILED"
    EMBED_FAILED = "KB_VECTOR_EMBED_FAILED"
    VOLUME_EXCEEDED = "KB_SYNC_VOLUME_EXCEEDED"
    SIZE_EXCEEDED = "KB_INGEST_INPUT_SIZE_EXCEEDED"
    TENANT_MANIFEST_INVALID = "KB_TENANT_MANIFEST_INVALID"
    TENANT_MANIFEST_FAILED = "KB_TENANT_MANIFEST_WRITE_FAILED"
    TENANT_CONFIG_FAILED = "KB_TENANT_CONFIG_WRITE_FAILED"
    DIVERGENCE = "KB_MERGE_NATURAL_KEY_DIVERGENCE"
    IMPORT_FAILED = "DATABASE_IMPORT_ERROR"


class Metric(StrEnum):
    """What a push amounted to."""

    ERROR = "error"
    RECONCILE = "reconcile"
    TOMBSTONE = "tombstone"
    INGEST = "ingest"


class RefusedError(VocabgapError):
    """Something that is refused with one of the contract's codes.

    Args:
        code: The code.
        message: What is wrong.
        details: What a program may want to know of it.
    """

    exit_code = ExitCode.INVALID_INPUT

    def __init__(self, code: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.code = code
        self.details = details


@dataclass(frozen=True, slots=True)
class PushError:
    """One thing that went wrong with a push.

    Attributes:
        code: One of `Code`.
        message: What is wrong, and what to do.
        details: What a program may want to know of it, such as `fileIndex` and `chunkIndex`.
        exit_code: With what a command would end that met nothing worse.
    """

    code: str
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    exit_code: ExitCode = ExitCode.INVALID_INPUT

    @classmethod
    def of(cls, error: RefusedError, **details: object) -> "PushError":
        """The entry of an error that was raised."""
        return cls(error.code, error.message, {**error.details, **details}, error.exit_code)

    def as_object(self) -> dict[str, Any]:
        """The entry as the contract has it."""
        told = {"code": str(self.code), "message": self.message}
        return {**told, "details": self.details} if self.details else told


@dataclass(frozen=True, slots=True)
class Warned:
    """A claim of a payload that was overwritten with what the receiving side knows."""

    field: str
    claimed: object
    stamped: object
    chunks: int

    def __str__(self) -> str:
        """What was overwritten, in words."""
        return f"{self.field} was claimed as {self.claimed!r} by {self.chunks}, stamped as {self.stamped!r}"


@dataclass(frozen=True, slots=True)
class PushResult:
    """What came of a push.

    Attributes:
        tenant_id: Whose corpus was pushed to.
        ingested: Valid chunks of the payload, also those that were there already.
        added: Chunks that were new, for which a vector is to be made.
        deleted: Chunks that were there and were withdrawn.
        errors: What was refused; everything else of the payload was done all the same.
        warnings: Claims that were overwritten.
        duration_ms: How long it took.
    """

    tenant_id: str
    ingested: int = 0
    added: int = 0
    deleted: int = 0
    errors: tuple[PushError, ...] = ()
    warnings: tuple[Warned, ...] = ()
    duration_ms: int = 0

    @property
    def metric(self) -> Metric:
        """What it amounted to."""
        if self.errors:
            return Metric.ERROR
        if self.deleted:
            return Metric.RECONCILE if self.ingested else Metric.TOMBSTONE
        return Metric.INGEST

    @property
    def exit_code(self) -> ExitCode:
        """With what a command ends: the gravest of its errors, a failure of the store before all others."""
        return max((error.exit_code for error in self.errors), default=ExitCode.DONE)

    def as_object(self) -> dict[str, Any]:
        """The contract's result object, and the warnings in words."""
        return {
            "ingested": self.ingested,
            "deleted": self.deleted,
            "embeddingsGenerated": self.added,
            "errors": [error.as_object() for error in self.errors],
            "tenantId": self.tenant_id,
            "durationMs": self.duration_ms,
            "warnings": [str(warned) for warned in self.warnings],
        }
