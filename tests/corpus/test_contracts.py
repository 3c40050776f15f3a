import re
from importlib.resources import files

import jsonschema
import pytest

from vocabgap.corpus import contracts
from vocabgap.corpus.contracts import BACKUP_RECORD, PARSED_CHUNK, Code, contract_schema
from vocabgap.corpus.corpus import open_corpus
from vocabgap.corpus.extension import EXTENSION


def text_of(name: str) -> str:
    return (EXTENSION.folder / EXTENSION.documents[name]).read_text(encoding="utf-8")


def test_every_file_beside_the_module_is_a_contract_that_can_be_printed() -> None:
    present = {
        f"contracts/{item.name}" for item in files(contracts).iterdir() if item.name[0] != "_"
    }
    assert present == set(EXTENSION.documents.values())
    assert all(text_of(name).endswith("\n") for name in EXTENSION.documents)


@pytest.mark.parametrize("name", [PARSED_CHUNK, BACKUP_RECORD])
def test_a_schema_describes_every_field(name: str) -> None:
    schema = contract_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["additionalProperties"] is False
    assert all(item["description"] for item in schema["properties"].values())
    assert set(schema["required"]) <= set(schema["properties"])


def test_help_for_parsers_names_the_schema_of_their_chunks() -> None:
    assert PARSED_CHUNK in str(open_corpus.__doc__)


def test_every_code_in_the_prose_exists_but_one() -> None:
    named = set(re.findall(r"KB_[A-Z_]+", text_of("identity") + text_of("deletion-signals")))
    assert named - set(Code) == {"KB_TENANT_REPO_CLONE_URL_CREDENTIALS"}
