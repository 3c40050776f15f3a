"""Pushes of payloads and of folders into a shared corpus."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from vocabgap.corpus.deleting import empties
from vocabgap.corpus.identity import require_identity
from vocabgap.corpus.outcome import PushResult
from vocabgap.corpus.parsing import Parser
from vocabgap.corpus.push import Limits, push
from vocabgap.corpus.revisions import GitRepository
from vocabgap.corpus.stamping import Spoof
from vocabgap.corpus.store import Store
from vocabgap.exchange.folders import FolderPayload, Signals, gap_log_parser
from vocabgap.exchange.gap_chunks import PARSER_ID
from vocabgap.settings.model import ScanOptions, Settings

_ANY_NUMBER = 1 << 62
_NO_SIGNALS = Signals()


class Prepared:
    """A push that is read and not carried out yet, so that a person can be asked about it.

    Args:
        payload: What is pushed.
        parser: The parser of the gap logs in it; by default that of gap logs as text.
        from_folder: Whether it is read from a folder, whose size nobody limits.
    """

    def __init__(
        self,
        payload: Mapping[str, Any],
        parser: Parser | None = None,
        *,
        from_folder: bool = False,
    ) -> None:
        self.payload = payload
        self._parser = parser
        self._limits = Limits(_ANY_NUMBER, _ANY_NUMBER) if from_folder else Limits()

    @classmethod
    def of_folder(
        cls, root: Path, tenant: str, repo: str, options: ScanOptions, signals: Signals = _NO_SIGNALS
    ) -> "Prepared":
        """The push of the gap logs in a folder.

        Args:
            root: An image repository, or a single log.
            tenant: Whose it is.
            repo: What the repository is called.
            options: How logs are found and read.
            signals: What is withdrawn.

        Raises:
            VocabgapError: The folder cannot be read.
        """
        made = FolderPayload(root, tenant, repo, options, signals)
        return cls(made.payload, made.parser, from_folder=True)

    @property
    def empties(self) -> bool:
        """Whether it withdraws everything that the tenant has in the repository."""
        return empties(self.payload)

    def into(
        self,
        store: Store,
        *,
        tenant: str,
        repo: str,
        settings: Settings,
        git: Path | None = None,
        confirmed: bool = False,
        now: datetime | None = None,
    ) -> PushResult:
        """Carry it out. What is wrong with it is part of the answer.

        Args:
            store: The corpus.
            tenant: Whose push it is.
            repo: The repository that alone may be touched.
            settings: What is done about false claims, and how gap logs are read.
            git: The folder of a git repository that answers for a revision boundary.
            confirmed: Whether withdrawing everything is meant.
            now: The moment of the push; the present one by default.

        Raises:
            InvalidInputError: It is not said whose push it is.
        """
        tenant = require_identity(tenant, repo)
        return push(
            store,
            self.payload,
            tenant=tenant,
            repo=repo,
            spoof=Spoof(settings.corpus.tenant_spoof),
            resolver=None if git is None else GitRepository(git).deleted,
            parsers={PARSER_ID: self._parser or gap_log_parser(settings.sources)},
            confirmed=confirmed,
            limits=self._limits,
            now=now,
        )
