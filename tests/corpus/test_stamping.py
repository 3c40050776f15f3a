from typing import Any

import pytest

from vocabgap.corpus.contracts import Code, RefusedError
from vocabgap.corpus.identity import (
    GUARDED,
    false_claims,
    refuse_claims,
    stamped,
)

PIECE = {"hash": "00", "type": "gap-record", "name": "rain", "source": "a.jsonl", "content": "x"}
STAMP = dict(zip(GUARDED, ("ada", "lab", "team", "@scribe", 3, 1_000), strict=True))


def test_the_stamp_counts_and_what_was_claimed_otherwise_is_named() -> None:
    claims = dict.fromkeys(GUARDED, "mine")
    made = stamped({**PIECE, **claims}, STAMP)
    assert {field: made[field] for field in GUARDED} == STAMP
    assert false_claims({**PIECE, **claims}, STAMP) == list(GUARDED)


def test_a_true_claim_is_none_to_refuse() -> None:
    true = {
        **PIECE,
        "tenantId": "@ada",
        "repoSlug": "lab",
        "originAgentIdentity": "scribe",
        "ingestedAt": 1_000,
    }
    refuse_claims(true, STAMP)
    assert stamped(true, STAMP)["tenantId"] == "ada"


@pytest.mark.parametrize("claim", [{"tenantId": "bo"}, {"tenantId": None}, {"tenantConfigVersion": 3.5}])
def test_a_false_claim_is_refused_with_what_was_claimed(claim: dict[str, Any]) -> None:
    with pytest.raises(RefusedError, match="nothing was written") as refused:
        refuse_claims({**PIECE, **claim}, STAMP)
    assert refused.value.code == Code.SPOOF_REJECTED
    assert refused.value.details == {"fields": list(claim), "claimed": claim}
