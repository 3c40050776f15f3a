"""Corrections: find in notes the hash of the record that they correct.

A note may name a hash for many reasons. It corrects a record if only words about records stand between a word
of correcting and the hash. So `fixes the record at HASH` corrects, and `fixes the crop at HASH` does not.
"""

import re
from typing import Final, NamedTuple

DIGEST: Final = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{64}(?![0-9A-Za-z])")
# A hash, a sign, a word; of Chinese, Japanese and Korean a known word or a character.
_TOKEN: Final = re.compile(
    rf"{DIGEST.pattern}|[.;!?\n,:()–—]|(?<!\S)-(?=\s)|更正|订正|訂正|取代|替换|置き換え|정정|대체|[⺀-鿿가-힯]"
    r"|[^\W\d_⺀-鿿가-힯]+|\d+"
)


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# Verbs whose subject may be anything; all other words need a clause that is about records.
_CORRECTS: Final = _words(
    "corrects supersedes replaces amends revises rectifies overrides retracts obsoletes korrigiert",
    "berichtigt ersetzt corrige rectifie rectifica remplace reemplaza sustituye substitui sostituisce",
)
_CORRECTION: Final = _words(
    "correction correcting correct corrigendum erratum errata amendment amending amend amended revision",
    "revising revised replacement replacing replace superseding supersede fixes fixing fix overriding",
    "override retracting retraction withdrawing instead place lieu corrected korrektur berichtigung",
    "ersatz statt rectificatif corrección reemplazo corrigé 更正 订正 訂正 取代 替换 置き換え 정정 대체",
)
# They need `to` or `please` before them.
_BARE: Final = _words("correct replace supersede amend fix override")
_WRONG: Final = _words(
    "wrong wrongly mistaken mistake incorrect inaccurate erroneous error typo obsolete void superseded",
    "retracted withdrawn overridden falsch fehlerhaft erronée incorrecto errónea 更正 订正 訂正 取代 替换",
    "置き換え 정정 대체",
)
_CHANGED: Final = _words("corrected amended revised replaced korrigiert ersetzt corrigé remplacé")
_LABELS: Final = _words(
    "correction corrigendum erratum errata amendment korrektur berichtigung rectificatif 更正 訂正"
)
_NOUNS: Final = _words(
    "gap gaps record records entry entries snapshot hash sha commit state id one version rating",
    "satisfaction category description need wording value note notes eintrag eintrags datensatz bewertung",
    "enregistrement entrée registro entrada valoración 记 录 記 録 기 록",
)
_PLAIN: Final = _words(
    "the a an my our this that it its s own is was are had has be been earlier previous prior last former",
    "old original first above new updated of to for den die das der dem dieser von zu zum zur l le la les",
    "de du d el al del cette este 了 的 を の は 를 을",
)
_PLACES: Final = _words("at in from on with under logged dated made vom im en")  # they follow a noun
_SUBJECT: Final = (
    _NOUNS | _PLAIN | _PLACES | _words("i as see re and here now meant intended rated which please")
)
_LISTED: Final = "LISTED"  # a hash that is corrected, and a comma behind it
_BREAKS: Final = frozenset([*".;!?\n,:()–—-", _LISTED])
_OBJECT: Final = _NOUNS | _PLAIN | _PLACES | {":", "(", "-", "and", _LISTED}
_NEGATIONS: Final = _words("not never nor longer no")


class Correction(NamedTuple):
    """The place in notes where they correct a record."""

    begin: int
    end: int
    digest: str  # the hash that names the record, in lower case


def corrections_in(notes: str) -> list[Correction]:
    """Return the corrections in notes, in order."""
    found = [*_TOKEN.finditer(notes)]
    words = [match[0].lower() for match in found]
    is_whole = len(words) == 1 or (words[:1] and words[0] in _LABELS and words[1] in _BREAKS)
    listed: list[Correction] = []
    reached: dict[int, _Reach] = {}
    for place in [place for place, word in enumerate(words) if DIGEST.fullmatch(word)]:
        reach = (0, place) if is_whole else _before(words, place, reached) or _after(words, place)
        if reach:
            first, last = reach
            begin = max(found[first].start(), listed[-1].end if listed else 0)
            listed.append(Correction(begin, found[last].end(), words[place]))
            for behind in range(place, place + 1 + (words[place + 1 : place + 2] == [","])):
                words[behind] = _LISTED  # so that `replaces A, B` corrects both
    return listed


def without_corrections(notes: str) -> str:
    """Return notes without the words that correct a record."""
    parts, end = [], 0
    for correction in corrections_in(notes):
        parts.append(notes[end : correction.begin].rstrip(" ("))
        end = correction.end + notes.startswith(")", correction.end)
    return "".join((*parts, notes[end:])).strip()


class _Reach(NamedTuple):
    """How a word of correcting reaches a hash."""

    first: int  # the place of the word
    object_of: str  # the first noun or place behind it


def _before(words: list[str], place: int, reached: dict[int, _Reach]) -> tuple[int, int] | None:
    """Return the first and last word of a correction that ends with its hash.

    `reached` has the listed hashes, and gets this one. A word that reaches a hash is not checked again.
    """
    first, object_of = place - 1, ""
    while first >= 0 and words[first] in _OBJECT and first not in reached:
        object_of = words[first] if words[first] in _NOUNS | _PLACES else object_of
        first -= 1
    is_listed = first in reached
    if is_listed:
        first, object_of = reached[first].first, reached[first].object_of or object_of
    if first < 0 or words[first] not in _CORRECTS | _CORRECTION | _WRONG:
        return None
    word, before = words[first], words[first - 1] if first else ""
    if object_of in _PLACES and word not in _WRONG:  # as in `the correction at HASH`
        return None
    if word in _CORRECTS:
        is_said = before not in _NEGATIONS
    else:
        is_said = word not in _BARE or before in {"to", "please"}
        is_said = is_said and (is_listed or _is_of_records(words, first))
    if not is_said:
        return None
    reached[place] = _Reach(first, object_of)
    return first, place


def _after(words: list[str], place: int) -> tuple[int, int] | None:
    """Return the first and last word of a correction that begins with its hash."""
    last = place + 1
    while last < len(words) and words[last] in _OBJECT:
        last += 1
    word, behind, behind_that = [*words[last : last + 3], "", "", ""][:3]
    is_by_this = (behind, behind_that) == ("by", "this")
    is_wrong = word in _WRONG and (not behind or behind in _BREAKS | _NOUNS)
    is_changed = word in _CHANGED and behind in _NOUNS
    is_said = is_wrong or is_changed or (is_by_this and word in _WRONG | _CHANGED)
    return (place, last) if is_said and _is_of_records(words, place) else None


def _is_of_records(words: list[str], place: int) -> bool:
    """Check that the clause before a word has only words about records."""
    while place and words[place - 1] not in _BREAKS:
        place -= 1
        if words[place] not in _SUBJECT:
            return False
    return True
