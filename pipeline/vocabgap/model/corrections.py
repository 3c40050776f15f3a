"""Corrections: find in notes the hash of the record that they correct.

A note may name a hash for many reasons. It corrects a record if only words about records stand between a word
of correcting and the hash. So `fixes the record at HASH` corrects, and `fixes the crop at HASH` does not.
"""

import re
from typing import Final

DIGEST: Final = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{64}(?![0-9A-Za-z])")
_HASH: Final = DIGEST.pattern

# Verbs whose subject may be anything; all other words need a clause that is about records.
_CORRECTS: Final = (
    "corrects|supersedes|replaces|amends|revises|rectifies|overrides|retracts|obsoletes|korrigiert|berichtigt"
    "|ersetzt|corrige|rectifie|rectifica|remplace|reemplaza|sustituye"
)
_LABEL: Final = (
    "correction|corrigendum|errat(?:um|a)|amendment|korrektur|berichtigung|rectificatif|corrección"
)
_CORRECTION: Final = (
    "correcting|revision|replacement|(?:amend|revis|replac|supersed|fix|overrid|retract|withdraw)ing|fixes"
    "|(?:amend|revis|correct)ed|instead|place|lieu|ersatz|statt|reemplazo|corrigé"
    r"|(?:to|please)\s(?:correct|replace|supersede|amend|fix|override|retract|revise)"
)
_WRONG: Final = (
    "wrong(?:ly)?|mistaken?|incorrect|inaccurate|erroneous|error|typo|obsolete|void|superseded|retracted"
    "|withdrawn|overridden|falsch|fehlerhaft|erronée|incorrecto|errónea"
)
_CHANGED: Final = "corrected|amended|revised|replaced|korrigiert|ersetzt|corrigé|remplacé"
_NOUN: Final = (
    "gaps?|records?|entry|entries|snapshot|hash|sha|commit|state|id|one|version|rating|satisfaction|category"
    "|description|need|wording|value|notes?|eintrags?|datensatz|bewertung|enregistrement|entrée|registro"
    "|entrada|valoración"
)
_PLACE: Final = "at|in|from|on|with|under|logged|dated|made|vom|im|en"
_PLAIN: Final = (
    "the|an?|my|our|this|that|its?|own|s|is|was|are|ha[sd]|be|been|and|earlier|previous|prior|last|former|old"
    "|original|first|above|new|updated|of|to|for|de[nrms]|die|das|dieser|von|zu[mr]?|l[ea]?|les|du|de|d|el"
    "|al|cette|este"
)
_BREAKS: Final = r".;!?\n,:()–—"
_ABOUT: Final = rf"(?:[^\w.;!?\n,)–—]|\b(?:{_PLAIN}|(?:{_NOUN})(?:\s(?:{_PLACE}))*)\b)*"
_SUBJECT: Final = (  # a dash ends it; otherwise a row of dashes takes quadratic time
    rf"(?:(?!(?<=\s)-\s)[^\w{_BREAKS}]"
    rf"|\b(?:{_PLAIN}|{_NOUN}|{_PLACE}|i|as|see|re|here|now|meant|rated|which|please)\b)*"
)
_HASHES: Final = rf"{_ABOUT}{_HASH}(?:,?{_ABOUT}{_HASH})*"
_CORRECTED: Final = re.compile(
    rf"""
    \A\W*{_HASH}\W*\Z
    | \A\W*(?:{_LABEL})\s*(?:[{_BREAKS}]|-\s).*{_HASH}  # it corrects all hashes
    | (?:(?<![^{_BREAKS}])|(?<=\s-)(?=\s)){_SUBJECT}(?:
        \b(?:{_LABEL}|{_CORRECTION}|(?:{_WRONG})(?:\s(?:{_PLACE}))?)\b{_HASHES}
        | {_HASH}{_ABOUT}(?:
            \b(?:{_WRONG})\b(?=\W*\Z|\s*[{_BREAKS}]|\s(?:{_NOUN})\b)
            | \b(?:{_CHANGED})\s(?:{_NOUN})\b
            | \b(?:{_WRONG}|{_CHANGED})\sby\sthis\b)
        )
    | (?<!\bnot\s)(?<!\bnever\s)(?<!\bnor\s)(?<!\blonger\s)\b(?:{_CORRECTS})\b{_HASHES}
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def corrected_in(notes: str) -> list[str]:
    """Return the hashes of the records that notes correct, in lower case and in order."""
    if not DIGEST.search(notes):
        return []
    spans = _CORRECTED.finditer(notes)
    return [digest.lower() for span in spans for digest in DIGEST.findall(span[0])]


def without_corrections(notes: str) -> str:
    """Return notes without the words that correct a record."""
    return re.sub(r" ?\(\s*\)", "", _CORRECTED.sub("", notes)).strip()
