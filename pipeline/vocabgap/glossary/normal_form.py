"""The normal form of a term, by which terms are compared and found: two wordings of the same form are one.

Unlike a surface of the clustering, it stays a term that people can read: only plurals become singulars.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress, count
from typing import Any, Final

from vocabgap.glossary.senses import InvalidTermError, TermSurface

# Plural to singular, as far as a word alone says; in doubt it stays. The stemmer of the clustering would not
# do: normal forms are shown to people, and 24 of the 153 conformance cases fail with it (`primit`).
_SHORTEST: Final = 4  # letters of a word that may be a plural
_SHORTEST_IES: Final = 5  # letters from which on -ies is from -y: policies, but ties
_VOWELS: Final = frozenset("aeiouy")
# Ends like a plural and is none, or has no other form.
_UNCHANGED: Final = """
news lens series species means always perhaps towards besides sometimes nowadays afterwards whereas
physics mathematics politics economics ethics athletics electronics robotics statistics analytics logistics
corps pants jeans scissors tweezers binoculars headquarters innards outdoors indoors mars wales
aids rabies diabetes kubernetes postgres https does goes has was yes
"""
# What no rule gives.
_IRREGULAR: Final = {
    "lenses": "lens",
    "axes": "axis",
    "analyses": "analysis",
    "syntheses": "synthesis",
    "parentheses": "parenthesis",
    "hypotheses": "hypothesis",
    "theses": "thesis",
    "prostheses": "prosthesis",
    "crises": "crisis",
    "diagnoses": "diagnosis",
    "prognoses": "prognosis",
    "emphases": "emphasis",
    "synopses": "synopsis",
    "aliases": "alias",
    "biases": "bias",
    "canvases": "canvas",
    "atlases": "atlas",
    "gases": "gas",
    "irises": "iris",
    "quizzes": "quiz",
}
# Of the many words that end in -as, -is, -os and -us those that are plurals; most are none.
_PLURALS: Final = """
areas schemas cameras ideas formulas deltas gammas alphas betas lambdas sigmas quotas agendas panoramas
replicas personas pizzas operas dramas
apis uis guis clis uris dois taxis skis wikis emojis alibis safaris bikinis minis
photos videos logos repos demos memos macros zeros radios ratios studios portfolios scenarios todos tempos
solos kilos autos euros intros promos combos gizmos undos lassos casinos stereos audios cameos pros repros
algos turbos micros halos dominos mangos cargos
menus gnus emus
"""
_STAY: Final = frozenset(_UNCHANGED.split())
_KNOWN: Final = frozenset(_PLURALS.split())
# Words whose singular ends in -ie, -oe, -che or -use: the rules would take more than the s.
_IES_FROM_IE: Final = re.compile(
    r"(?:mov|cook|self|calor|zomb|gen|hood|rook|pix|prair|magp|neckt|smooth|brown|newb|freeb|talk|bir?d|bowt|aunt"
    r"|sort|rever|ind|tech|lingerr|eyr|boug|cal|coll|edd|goal)ies"
)
_OES_FROM_OE: Final = re.compile(r"(?:\w*sh|t|\w*t[iy]pt|can|h|ob|f|w|al|fl|r)oes")
_CHES_FROM_CHE: Final = re.compile(
    r"\w*(?:ca|\ba|head|tooth|ni|avalan|cli|psy|mousta|quich|brio|fi|tran|apa)ches"
)
_USES_FROM_USE: Final = re.compile(
    r"\w*[ao]uses|(?:re|mis|over|dis|ab|am|m|f|conf|diff|inf|def|ref|r|acc|exc|per)?uses"
)
# A word, or a single mark: a term does not go on across the end of a sentence.
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
# What is in a word without being seen, and makes no other word of it: hyphenation points, text directions.
_UNSEEN: Final = (
    "\xad\u034f\u061c\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064"
    "\u2066\u2067\u2068\u2069\u206a\u206b\u206c\u206d\u206e\u206f\ufeff"
)
_WITHOUT_UNSEEN: Final = str.maketrans("", "", _UNSEEN)
# Needed to write some words and signs, but no other word either.
_JOINERS: Final = re.compile("[\u200c\u200d\ufe0e\ufe0f]")
# A dotted I, which only Turkish tells from I: in lower case, it would be two characters.
_DOTTED: Final = re.compile("(?:\u0130|(?<=i)\u0307)\u0307*")
_FOLDED: Final = f"\u0130\u0307{_UNSEEN}"
# Two to five capitals, with digits between or after them: API, HTTP2, K8S; and several of them: APIs.
ACRONYM: Final = re.compile(r"(?=(?:[0-9]*[A-Z]){1,5}[0-9]*s?\Z)[A-Z][A-Z0-9]+(s?)")


_END: Final = ""  # no token is empty: under it stands the term that ends here


@lru_cache(maxsize=100_000)
def normal_form(text: str) -> str:
    """The normal form of a term.

    In lower case, single spaces between words, as `composed` has them, and the last word in the singular. An
    acronym has no plural but that of a small s: `APIs` is `api`, `CORS` is `cors`.

    Returns:
        The form; empty where the text is blank.
    """
    folded = " ".join(composed(text).split())
    start, space, last = folded.rpartition(" ")
    return lower(f"{start}{space}") + word_form(last)


def word_form(word: str) -> str:
    """The normal form of a single word, which holds no white space."""
    acronym = ACRONYM.fullmatch(word)
    if acronym is not None:
        return word.lower().removesuffix("s") if acronym[1] else word.lower()
    return singular(lower(word))


def lower(text: str) -> str:
    """Text in lower case and composed, such that doing so again changes nothing."""
    return composed(text.lower())


@lru_cache(maxsize=100_000)
def term_key(surface: str) -> str:
    """What terms are looked up by: the same for all spellings of a term, seeds in the plural included.

    Every word is in the singular, and a mark is a word. It forgets that a term is an acronym, since a surface
    in lower case does not say so.
    """
    return " ".join(keys_of(surface))


def keys_of(text: str) -> list[str]:
    """The words and marks of a text, in order, as they are looked up."""
    return list(map(word_key, tokens_of(composed(text))))


def tokens_of(text: str) -> list[str]:
    """The words and marks of a text, in order; what only joins characters is none."""
    return _TOKEN.findall(text if text.isascii() else _JOINERS.sub("", text))


@lru_cache(maxsize=100_000)
def word_key(word: str) -> str:
    """What a word is looked up by."""
    if word.islower():
        return singular(lower(word)) if word[-1] == "s" or not word.isascii() else word
    return singular(word_form(word))


def composed(text: str) -> str:
    """Text with compatibility forms folded (NFKC), without what is not seen, and with I for a dotted I."""
    if text.isascii():
        return text
    # Both questions are answered much faster, for a long text, than each character is looked at.
    folded = text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)
    if not any(map(folded.__contains__, _FOLDED)):
        return folded
    plain = _DOTTED.sub(_undotted, folded.translate(_WITHOUT_UNSEEN))
    return folded if plain == folded else composed(plain)  # what was apart may be one character now


def definition_key(definition: str) -> str:
    """What definitions are compared by: case, white space and a full stop at the end make no difference."""
    return " ".join(lower(definition).split()).rstrip(".")


def surface_of(text: str) -> TermSurface | None:
    """The term that a text is; none where there is nothing to see in it, or that is no Unicode text."""
    try:
        return TermSurface(normal_form(text))
    except InvalidTermError:
        return None


def _undotted(match: re.Match[str]) -> str:
    return "I" if match[0][0] == "\u0130" else ""


@lru_cache(maxsize=100_000)
def singular(word: str) -> str:
    """The singular of a word in lower case; itself where it is none, or that cannot be known."""
    if not word.isalpha():
        return word
    while (shorter := _once(word)) != word:  # no word is a plural twice, but its singular is its own
        word = shorter
    return word


def _once(word: str) -> str:
    if len(word) < _SHORTEST or not word.endswith("s") or word in _STAY:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _KNOWN:
        return word[:-1]
    singular_form = _by_ending(word)
    return singular_form if not _VOWELS.isdisjoint(singular_form) else word


def _by_ending(word: str) -> str:
    if word.endswith("es"):
        return _without_es(word)
    return word if word.endswith(("ss", "us", "as", "is", "os")) else word[:-1]


def _without_es(word: str) -> str:
    if word.endswith("ies"):
        from_ie = len(word) < _SHORTEST_IES or _IES_FROM_IE.fullmatch(word) is not None
        return word[:-1] if from_ie else f"{word[:-3]}y"
    keeps_e = (
        (word.endswith("oes") and _OES_FROM_OE.fullmatch(word))
        or (word.endswith("ches") and _CHES_FROM_CHE.fullmatch(word))
        or (word.endswith("uses") and _USES_FROM_USE.fullmatch(word))
    )
    if not keeps_e and word.endswith(("sses", "xes", "zzes", "tzes", "shes", "ches", "oes", "uses")):
        return word[:-2]
    return word[:-1]


class KnownTerms:
    """Terms as a trie of their words.

    Args:
        terms: The terms in any spelling. Of two spellings of the same the first in order stands for it.
    """

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self._root: dict[str, Any] = {}
        for term in sorted(set(terms)):
            branch = self._root
            for word in term_key(term).split():
                branch = branch.setdefault(word, {})
            if branch is not self._root:
                branch.setdefault(_END, term)

    def found(self, keys: Sequence[str]) -> Iterator[str]:
        """The terms in a text, in order, each as often as it is there.

        Where several begin at the same word the longest is meant, and what is part of a term is none itself.
        """
        root, end, after = self._root, len(keys), 0
        for place in compress(count(), map(root.__contains__, keys)):
            if place < after:
                continue
            branch, ahead = root[keys[place]], place + 1
            term, after = branch.get(_END), ahead
            while ahead < end and (branch := branch.get(keys[ahead])) is not None:
                ahead += 1
                if _END in branch:
                    term, after = branch[_END], ahead
            if term is not None:
                yield term
