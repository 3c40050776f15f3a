"""Plan the issues of needs on a forge: which to create, change, reopen or close.

An issue has a hidden line with the identifiers of its need. Nothing here opens a network connection.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
import polars as pl
from msgspec.structs import replace

from vocabgap.errors import InvalidInputError
from vocabgap.model.capability import SETTLED, Capability
from vocabgap.model.tables import AUTHORED, PRESENT
from vocabgap.ranking.identity import derived_id
from vocabgap.reporting.history import became_of, earlier_rows
from vocabgap.reporting.manifest import Rendering
from vocabgap.reporting.markdown import render_issue
from vocabgap.reporting.published_run import resolve_target
from vocabgap.reporting.summary import summarise
from vocabgap.reporting.writing import read_tables
from vocabgap.text import excerpt

LABEL: Final = "vocabgap"
_OPEN: Final = "OPEN"
_MARK: Final = re.compile(r"^<!-- vocabgap ((?:cap-[0-9a-f]{12} ?)+)-->\s*$", re.MULTILINE)


class Issue(msgspec.Struct, frozen=True, rename="camel"):
    """An issue, as `gh issue list --json` prints it."""

    number: int
    title: str
    body: str
    state: str
    state_reason: str | None = None
    closed_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Tell whether the issue is open."""
        return self.state == _OPEN


FIELDS: Final = tuple(each.encode_name for each in msgspec.structs.fields(Issue))


class Step(NamedTuple):
    """A request to the API of GitHub."""

    method: str
    path: str
    fields: Mapping[str, Any]


def read_issues(content: bytes) -> list[Issue]:
    """Return the issues that `gh issue list --json` printed.

    Raises:
        InvalidInputError: The content is something else.
    """
    try:
        return msgspec.json.decode(content, type=list[Issue])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        command = f"gh issue list --label {LABEL} --state all --limit 10000 --json {','.join(FIELDS)}"
        raise InvalidInputError(
            f"these are no issues: {error}", hint=f"write them with `{command}`"
        ) from error


def plan(run: str, known: Sequence[Issue], top: int) -> Iterator[Step]:
    """Yield what to do so that each need has one issue with its latest evidence.

    The first `top` needs get an issue if they have none; needs that probably exist do not count. Further
    issues of a need are closed. An issue that was closed as completed is reopened if the need came back or
    was reopened later. Without a decision, it is reopened if people asked for the need later.
    """
    place = resolve_target(run, option="--run")
    manifest, tables = read_tables(place, option="--run")
    rendering = manifest.rendering or Rendering(0, manifest.settings.rank.by.value, "")
    summary = summarise(tables, replace(manifest, rendering=replace(rendering, top=0)))
    needs = {each.capability_id: each for each in (*summary.capabilities, *summary.settled)}
    later = _later(earlier_rows(place), needs)
    issues = defaultdict[str, list[Issue]](list)
    for issue in known:
        names = (later.get(name, name) for name in _names(issue))
        if need := next((needs[name] for name in names if name in needs), None):
            issues[need.capability_id].append(issue)
    surfaces = _surfaces(tables.groups)
    missing = [each.capability_id for each in summary.capabilities if each.ranks_by_pin or not each.exists]
    for name, need in needs.items():
        if not issues[name] and name not in missing[:top]:
            continue
        identifiers = dict.fromkeys((name, *map(derived_id, surfaces.get(name, ()))))
        title = excerpt(need.label).replace("@", "(at)")
        fields = {"title": title, "body": render_issue(summary, need, identifiers)}
        if not issues[name]:
            yield Step("POST", "repos/{owner}/{repo}/issues", {**fields, "labels": [LABEL]})
            continue
        first_issue, *others = sorted(
            issues[name], key=lambda each: (not each.is_open, _names(each)[0] != name, each.number)
        )
        yield from _kept(first_issue, need, fields)
        body = f"Now part of #{first_issue.number}.\n"
        closed = {"body": body, "state": "closed", "state_reason": "not_planned"}
        yield from (_changed(other, closed) for other in others if other.is_open)


def _names(issue: Issue) -> list[str]:
    """Return the identifiers in an issue: that of its need, then those that its wordings would give it."""
    marks = _MARK.findall(issue.body)
    return marks[-1].split() if marks else []


def _later(history: pl.DataFrame, needs: Mapping[str, Capability]) -> dict[str, str]:
    """Return, for identifiers of earlier runs, the need that they belong to now."""
    became = became_of(history).select(pl.col("capability_id", "part_of").cast(pl.String)).rows()
    rank = {name: need.rank for name, need in needs.items()}
    pairs = sorted((rank[last], name, last) for name, last in became if last in rank and name not in rank)
    return {name: last for _, name, last in reversed(pairs)}


def _surfaces(groups: pl.DataFrame | None) -> dict[str, list[str]]:
    if groups is None:
        return {}
    enough = 25  # to find the need without earlier reports
    most = groups.filter(run=PRESENT).sort("mentions", "surface", descending=[True, False])
    return dict(most.group_by("capability_id").agg(pl.col("surface").head(enough)).iter_rows())


def _kept(issue: Issue, need: Capability, fields: Mapping[str, Any]) -> Iterable[Step]:
    is_settled = need.status in SETTLED
    if issue.is_open and is_settled:
        reason = "completed" if need.status == AUTHORED else "not_planned"
        yield _changed(issue, {**fields, "state": "closed", "state_reason": reason})
    elif issue.is_open:
        if (issue.title, issue.body.replace("\r\n", "\n")) != (fields["title"], fields["body"]):
            yield _changed(issue, fields)
    elif not is_settled and issue.state_reason in {"COMPLETED", "", None}:
        asked, closed = need.status_since or need.last_seen, issue.closed_at
        if asked is not None and closed is not None and asked > closed:
            yield _changed(issue, {**fields, "state": "open"})


def _changed(issue: Issue, fields: Mapping[str, Any]) -> Step:
    return Step("PATCH", f"repos/{{owner}}/{{repo}}/issues/{issue.number}", fields)
