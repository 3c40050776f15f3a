from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.corpus.contracts import keeps
from vocabgap.corpus.identity import (
    NATURAL_KEY,
    TENANT,
    content_hash,
    natural_key,
    normal_tenant,
    storage_id,
)

VALUES = st.none() | st.text() | st.integers() | st.booleans() | st.lists(st.text(), max_size=2)
METADATA = st.dictionaries(st.sampled_from(NATURAL_KEY), VALUES)


@pytest.mark.parametrize(
    ("claimed", "known"),
    [("ada", "ada"), ("@ada", "ada"), ("@@ada", "@ada"), ("@", None), ("", None), (5, None)],
)
def test_one_leading_at_sign_of_a_tenant_does_not_count(claimed: object, known: str | None) -> None:
    assert normal_tenant(claimed) == known


@pytest.mark.parametrize(
    "name", ["a", "0", "a--b", "a" * 64, "A", "a" * 65, "-a", "a-", "", "a_b", "ada\n", "é"]
)
def test_tenants_match_the_schema(chunk: dict[str, Any], name: str) -> None:
    assert bool(TENANT.fullmatch(name)) is keeps("parsed-chunk-v1", {**chunk, "tenantId": name})


def test_no_claim_of_a_chunk_reaches_anothers_storage_id(chunk: dict[str, Any]) -> None:
    chunk["hashInputs"] = ["tenantId", "content"]
    known = {"type": chunk["kind"], "name": chunk["name"], "source": chunk["sourcePath"]}
    claimed = {**known, "hash": content_hash({**chunk, "tenantId": "bo"}, "ada", None)}
    theirs = {**known, "hash": content_hash({**chunk, "tenantId": "bo"}, "bo", None)}
    assert claimed["hash"] == theirs["hash"]
    assert storage_id(claimed, {"tenantId": "ada", "repoSlug": "lab"}) != storage_id(
        theirs, {"tenantId": "bo", "repoSlug": "lab"}
    )


@given(METADATA, METADATA)
def test_different_fields_give_other_keys(first: dict[str, Any], second: dict[str, Any]) -> None:
    typed = [
        [(name, type(values[name]), values[name]) for name in sorted(values)]
        for values in (first, second)
    ]
    assert (natural_key(first) == natural_key(second)) is (typed[0] == typed[1])
