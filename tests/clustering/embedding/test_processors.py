"""A kind of CPU: the same for CPUs that compute alike, another one where the instructions differ."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from vocabgap.clustering.embedding import cache
from vocabgap.clustering.embedding.cache import cpu_kind

X86: Final = """processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Some CPU @ 2.00GHz
cpu MHz\t\t: 2000.123
flags\t\t: fpu avx avx2
bogomips\t: 4000.00

processor\t: 1
vendor_id\t: GenuineIntel
model name\t: Some CPU @ 2.00GHz
cpu MHz\t\t: 1800.456
flags\t\t: fpu avx avx2
bogomips\t: 4000.00
"""
ARM: Final = """processor\t: 0
BogoMIPS\t: 50.00
Features\t: fp asimd
CPU implementer\t: 0x41
CPU part\t: 0xd0c

processor\t: 1
BogoMIPS\t: 50.00
Features\t: fp asimd
CPU implementer\t: 0x41
CPU part\t: 0xd0b
"""

KindOf = Callable[[str], str]


@pytest.fixture
def kind_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KindOf:
    """Gives the kind of CPU of a machine whose list of CPUs has this content."""
    monkeypatch.setattr(cache, "_CPU_LIST", tmp_path / "cpuinfo")

    def tell(content: str) -> str:
        (tmp_path / "cpuinfo").write_text(content)
        return cpu_kind()

    return tell


def test_the_architecture_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert cpu_kind().startswith("riscv64 ")


@pytest.mark.parametrize(
    ("listed", "old", "new"),
    [
        (X86, "flags\t\t: fpu avx avx2", "flags\t\t: fpu avx avx2 avx512f"),
        (X86, "Some CPU", "Some other CPU"),
        (ARM, "asimd", "asimd sve"),
        (ARM, "0xd0b", "0xd40"),
    ],
)
def test_another_model_or_other_instructions_are_another_kind(
    kind_of: KindOf, listed: str, old: str, new: str
) -> None:
    assert kind_of(listed) != kind_of(listed.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"), [("1800.456", "3100.000"), ("fpu avx avx2", "avx2 avx fpu"), ("4000.00", "4100.00")]
)
def test_what_changes_by_the_moment_does_not_count(kind_of: KindOf, old: str, new: str) -> None:
    assert kind_of(X86) == kind_of(X86.replace(old, new))


def test_how_many_there_are_does_not_count(kind_of: KindOf) -> None:
    one = X86.partition("\nprocessor")[0]
    assert kind_of(one) == kind_of(X86)


def test_which_of_several_kinds_comes_first_does_not_count(kind_of: KindOf) -> None:
    first, second = ARM.split("\n\n")
    assert kind_of(ARM) == kind_of(f"{second}\n\n{first}")


def test_without_a_list_the_system_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_CPU_LIST", tmp_path / "none")
    found = set()
    for name in ("arm", "i386"):
        monkeypatch.setattr("platform.processor", lambda told=name: told)
        found.add(cpu_kind())
    assert len(found) == 2
