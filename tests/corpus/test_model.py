"""Any sequence of pushes and withdrawals leaves what a plain dictionary would hold."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vocabgap.corpus.corpus import Corpus, open_corpus
from vocabgap.corpus.push import push

Key = tuple[str, str, str, str]  # tenant, repository, path, text

tenants = st.sampled_from(["north", "south"])
repos = st.sampled_from(["photos", "archive"])
paths = st.sampled_from(["a.md", "b.md", "b/c.md"])
texts = st.sampled_from(["one", "two", "ünï"])
pushes = st.fixed_dictionaries(
    {
        "kind": st.just("push"),
        "tenant": tenants,
        "repo": repos,
        "files": st.lists(st.tuples(paths, texts), max_size=4),
        "deleted": st.lists(paths, max_size=2),
        "left": st.none() | st.lists(paths, max_size=3),
        "gone": st.none() | st.lists(paths, max_size=2),
    }
)
others = st.fixed_dictionaries(
    {"kind": st.sampled_from(["forget", "compact"]), "tenant": tenants, "repo": st.none() | repos}
)
steps = st.lists(pushes | others, max_size=6)


@dataclass
class Model:
    """A corpus as a set of its chunks."""

    held: set[Key] = field(default_factory=set)
    forgotten: set[Key] = field(default_factory=set)

    def push(self, step: dict[str, Any]) -> tuple[int, int]:
        """Withdraw, then bring in; return how many are gone and how many are new."""
        tenant, repo = step["tenant"], step["repo"]
        brought = {(tenant, repo, path, text) for path, text in step["files"]} - self.forgotten
        withdrawn = {*step["deleted"], *(step["gone"] or ())}
        leaving = {
            key
            for key in self.held
            if key[:2] == (tenant, repo)
            and (key[2] in withdrawn or (step["left"] is not None and key[2] not in step["left"]))
        } - brought
        new = brought - self.held
        self.held = (self.held - leaving) | brought
        return len(leaving), len(new)

    def forget(self, step: dict[str, Any]) -> None:
        """Take out everything of a tenant, or of one of its repositories, and leave it out from now on."""
        self.forgotten |= {
            key for key in self.held if key[0] == step["tenant"] and step["repo"] in {None, key[1]}
        }
        self.held -= self.forgotten


def carry_out(corpus: Corpus, step: dict[str, Any]) -> tuple[int, int]:
    """Push the same into a corpus."""
    payload: dict[str, Any] = {
        "files": [{"content": text, "sourcePath": path} for path, text in step["files"]],
        "deleted": step["deleted"],
    }
    if step["left"] is not None:
        payload["manifestSnapshot"] = {"pathsAfterPush": step["left"]}
    if step["gone"] is not None:
        payload |= {"baseRevision": "one", "headRevision": "two"}
    result = push(
        corpus.store,
        payload,
        tenant=step["tenant"],
        repo=step["repo"],
        resolver=lambda *_: step["gone"],
        confirmed=True,
    )
    assert result.errors == ()
    return result.deleted, result.added


def held_by(corpus: Corpus) -> set[Key]:
    """Return the content of a corpus."""
    rows = corpus.store.version().rows(["tenant_id", "repo_slug", "source_path", "content"]).rows()
    assert len(rows) == len(set(rows))
    return set(rows)


@settings(max_examples=8)
@given(steps)
def test_model(tmp_path_factory: pytest.TempPathFactory, steps: list[dict[str, Any]]) -> None:
    corpus, model = open_corpus(tmp_path_factory.mktemp("law") / "corpus"), Model()
    carry_out(corpus, {**BLANK, "files": [("a.md", "one")]})
    model.push({**BLANK, "files": [("a.md", "one")]})
    for step in steps:
        if step["kind"] == "push":
            assert carry_out(corpus, step) == model.push(step)
            assert carry_out(corpus, step) == model.push(step) == (0, 0)
        elif step["kind"] == "compact":
            corpus.compact()
        elif any(key[0] == step["tenant"] and step["repo"] in {None, key[1]} for key in model.held):
            corpus.forget(step["tenant"], step["repo"])
            model.forget(step)
        assert held_by(corpus) == model.held


BLANK: dict[str, Any] = {
    "tenant": "north", "repo": "photos", "files": [], "deleted": [], "left": None, "gone": None,
}  # fmt: skip
