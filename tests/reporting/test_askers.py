"""Who asked, in words."""

from collections.abc import Callable

import msgspec
import polars as pl
import pytest

from vocabgap.model.capability import Asker, Capability
from vocabgap.pipeline import Run
from vocabgap.reporting.overviews import askers_of, who_asked, whose

COAST, TOWN, PIER = Asker("reeve", "coast", 5), Asker("reeve", "town", 3), Asker("pilot", "coast", 3)
Make = Callable[..., Capability]


@pytest.fixture
def asked_by(demo_run: Run) -> Make:
    """A capability that some have asked for."""
    first = demo_run.published.summary.capabilities[0]
    return lambda *askers: msgspec.structs.replace(first, asked_by=askers)


def test_where_only_one_could_have_asked_it_is_not_said(asked_by: Make) -> None:
    assert who_asked(asked_by(COAST), (COAST,)) == ""


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ((COAST,), "in 'coast' of 'reeve' only"),
        ((COAST, TOWN), "by 1 tenant in 2 repositories, most often in 'coast' of 'reeve' (5)"),
        ((COAST, TOWN, PIER), "by 2 tenants in 3 repositories, most often in 'coast' of 'reeve' (5)"),
        ((TOWN, PIER), "by 2 tenants in 2 repositories, most often in no single one"),
    ],
)
def test_tenants_are_named_where_there_are_several(asked_by: Make, own: tuple[Asker, ...], told: str) -> None:
    assert who_asked(asked_by(*own), (COAST, TOWN, PIER)) == told


def test_one_tenant_of_all_is_not_named(asked_by: Make) -> None:
    told = who_asked(asked_by(COAST, TOWN), (COAST, TOWN))

    assert told == "in 2 repositories, most often in 'coast' (5)"


@pytest.mark.parametrize(
    ("everybody", "told"),
    [
        ((), ""),
        ((COAST,), "All records are from the repository 'coast' of the tenant 'reeve'."),
        ((COAST, TOWN, PIER), "They are from 3 repositories of 2 tenants."),
    ],
)
def test_whose_all_records_are_is_a_sentence(everybody: tuple[Asker, ...], told: str) -> None:
    assert whose(everybody) == told


def test_askers_of_all_capabilities_are_those_of_each_together() -> None:
    rows = [[msgspec.to_builtins(each) for each in askers] for askers in ((COAST, PIER), (COAST, TOWN), ())]

    found = askers_of(pl.DataFrame({"asked_by": rows}))

    assert found == (Asker("reeve", "coast", 10), PIER, TOWN)
