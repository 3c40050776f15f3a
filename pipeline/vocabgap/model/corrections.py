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
    for place in [place for place, word in enumerate(words) if DIGEST.fullmatch(word)]:
        reach = (0, place) if is_whole else _before(words, place) or _after(words, place)
        if reach:
            first, last = reach
            begin = max(found[first].start(), listed[-1].end if listed else 0)
            listed.append(Correction(begin, found[last].end(), words[place]))
            for behind in range(place, place + 1 + (words[place + 1 : place + 2] == [","])):
                words[behind] = _LISTED  # so that `replaces A, B` corrects both
    return listed


def without_corrections(notes: str) -> str:
    """Return notes without the words that correct a record."""
    for correction in reversed(corrections_in(notes)):
        rest = notes[correction.end :].removeprefix(")")
        notes = notes[: correction.begin].rstrip(" (") + rest
    return notes.strip()


def _before(words: list[str], place: int) -> tuple[int, int] | None:
    """Return the first and last word of a correction that ends with its hash."""
    first = place - 1
    while first >= 0 and words[first] in _OBJECT:
        first -= 1
    if first < 0 or words[first] not in _CORRECTS | _CORRECTION | _WRONG:
        return None
    word, before = words[first], words[first - 1] if first else ""
    object_of = next((each for each in words[first + 1 : place] if each in _NOUNS | _PLACES), "")
    if object_of in _PLACES and word not in _WRONG:  # as in `the correction at HASH`
        return None
    if word in _CORRECTS:
        return None if before in _NEGATIONS else (first, place)
    is_said = word not in _BARE or before in {"to", "please"}
    return (first, place) if is_said and _is_of_records(words, first) else None


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
