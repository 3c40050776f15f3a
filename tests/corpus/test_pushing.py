"""Whose a push is has to be said: a payload never settles it itself."""

import pytest

from builders.corpus import ids_of
from vocabgap.corpus.corpus import Corpus
from vocabgap.errors import InvalidInputError

NOTE = {"content": "about the house", "sourcePath": "notes/today.txt"}
ELSEWHERE = {
    "tenantId": "north",
    "manifestSnapshot": {"repoSlug": "photos", "pathsAfterPush": ["other.txt"]},
    "files": [],
}


@pytest.mark.parametrize(
    ("tenant", "repo", "named"), [("", "photos", "tenant"), ("@", "photos", "tenant"), ("north", "", "repo")]
)
def test_push_of_nobody_is_refused_and_withdraws_nothing(
    corpus: Corpus, tenant: str, repo: str, named: str
) -> None:
    corpus.push({"files": [NOTE]}, tenant="north", repo="photos")

    with pytest.raises(InvalidInputError, match=rf"^{named}: expected"):
        corpus.push(ELSEWHERE, tenant=tenant, repo=repo)
    assert len(ids_of(corpus)) == 1
