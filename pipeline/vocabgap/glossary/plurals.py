"""Plural to singular, as far as that can be known from a word alone; in doubt a word stays as it is."""

import re
from functools import lru_cache
from typing import Final

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


@lru_cache(maxsize=100_000)
def singular(word: str) -> str:
    """The singular of a word in lower case; itself where it is none, or that cannot be known.

    Args:
        word: One word; what holds anything but letters is a name, and stays.
    """
    if not word.isalpha():
        return word
    while (found := _once(word)) != word:  # no word is a plural twice, but its singular is its own
        word = found
    return word


def _once(word: str) -> str:
    if len(word) < _SHORTEST or not word.endswith("s") or word in _STAY:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word in _KNOWN:
        return word[:-1]
    found = _by_ending(word)
    return found if not _VOWELS.isdisjoint(found) else word


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
