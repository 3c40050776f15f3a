"""What a repository lost between two revisions, as a local git repository tells it.

Git is asked as little as possible, and nothing that it could be talked into: no hook, pager, external diff or
file-system monitor runs, no network is reached, and what others name is never taken for an option.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from vocabgap.errors import NotFoundError, StateError
from vocabgap.text import visible

TIME_LIMIT: Final = 60.0  # seconds for one question to git
_QUIET: Final = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.allow=never",
)
_ENVIRONMENT: Final = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": os.devnull,
    "LC_ALL": "C",
}
_SHALLOW_HINT: Final = "a shallow clone does not have every revision; `git fetch --unshallow` gets them"


@dataclass(frozen=True, slots=True)
class GitRepository:
    """A local git repository whose files, or those of a folder in it, are what is pushed.

    Attributes:
        folder: The folder that source paths are relative to: the repository's own, or one below.
        time_limit: Seconds that one question to git may take.
    """

    folder: Path
    time_limit: float = TIME_LIMIT

    def deleted(self, base: str, head: str) -> tuple[str, ...]:
        """The paths that are in one revision and no longer in another.

        What was renamed is deleted under its old name. What was changed is not deleted.

        Args:
            base: The earlier revision: a commit, a tag or a branch.
            head: The later one.

        Returns:
            Paths relative to the folder, with forward slashes, sorted.

        Raises:
            NotFoundError: There is no git on this machine, or no repository in the folder.
            StateError: A revision is not known there, or git failed or took too long.
        """
        self._require_repository()
        tree = [self._resolved(revision) for revision in (base, head)]
        listed = self._ask(
            "diff-tree",
            "-r",
            "-z",
            "--name-only",
            "--no-renames",
            "--diff-filter=D",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=none",
            "--relative",
            *tree,
            "--",
        )
        names = [name for name in listed.split(b"\0") if name]
        return tuple(sorted(name.decode("utf-8", "backslashreplace") for name in names))

    def _require_repository(self) -> None:
        if not self.folder.is_dir():
            raise NotFoundError(f"git repository '{self.folder}' does not exist", hint="check --git")
        self._ask("rev-parse", "--git-dir", missing=f"'{self.folder}' is in no git repository")

    def _resolved(self, revision: str) -> str:
        """The name of a revision's commit, 40 digits or more: nothing that git could take for an option."""
        missing = f"revision '{visible(revision)}' is not known in '{self.folder}'"
        if "\0" in revision or not revision.strip():
            raise StateError(missing, hint="name a commit, a tag or a branch")
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        try:
            return self._ask(*asked, missing=missing).decode("ascii").strip()
        except NotFoundError as error:
            raise StateError(error.message, hint=_SHALLOW_HINT) from error

    def _ask(self, *arguments: str, missing: str = "") -> bytes:
        """What git answers.

        Args:
            arguments: The command.
            missing: What a refusal means, if it means that something is not there.
        """
        try:
            answer = subprocess.run(  # noqa: S603 - no shell; every argument is ours or follows --end-of-options
                ["git", *_QUIET, *arguments],  # noqa: S607 - the git that the person's path names
                cwd=self.folder,
                env={**_ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath)},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.time_limit,
                check=False,
            )
        except FileNotFoundError as error:
            raise NotFoundError(
                "there is no git on this machine", hint="install it, or leave out --git"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise StateError(
                f"git took more than {self.time_limit:g} seconds in '{self.folder}'", hint="try again"
            ) from error
        except OSError as error:
            raise StateError(f"git cannot be asked about '{self.folder}': {error.strerror}") from error
        if answer.returncode == 0:
            return answer.stdout
        told = visible(answer.stderr.decode("utf-8", "backslashreplace").strip())
        if missing:
            raise NotFoundError(f"{missing}{f': {told}' if told else ''}", hint="check --git")
        raise StateError(f"git failed in '{self.folder}': {told or answer.returncode}", hint="see `git fsck`")
