"""The normal form of a term, which is used to compare and find terms.

Words are split by `vocabgap.text.apart`, but not stemmed, because people read them. Only plurals become
singulars.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress, count
from typing import Final, NamedTuple

from vocabgap.text import HYPHEN, apart

# Plural to singular, if the word alone decides; otherwise the word is unchanged.
_SHORTEST: Final = 4  # letters of a word that may be a plural
_SHORTEST_IES: Final = 5  # fewest letters of a word whose -ies becomes -y: policies, but ties
_VOWELS: Final = frozenset("aeiouy")
# These end like a plural but are not, or have no singular.
_UNCHANGED: Final = """
news lens series species means always perhaps towards besides sometimes nowadays afterwards whereas
physics mathematics politics economics ethics athletics electronics robotics statistics analytics logistics
corps pants jeans scissors tweezers binoculars headquarters innards outdoors indoors mars wales
aids rabies diabetes kubernetes postgres https does goes has was yes
"""
# Irregular plurals, each before its singular.
_IRREGULAR: Final = """
lenses lens axes axis analyses analysis syntheses synthesis parentheses parenthesis hypotheses hypothesis
theses thesis prostheses prosthesis crises crisis diagnoses diagnosis prognoses prognosis emphases emphasis
synopses synopsis aliases alias biases bias canvases canvas atlases atlas gases gas irises iris quizzes quiz
indices index matrices matrix vertices vertex appendices appendix criteria criterion phenomena phenomenon
children child men man women woman mice mouse knives knife shelves shelf
"""
# Plurals that end in -as, -is, -os or -us; most such words are not plurals.
_PLURALS: Final = """
areas schemas cameras ideas formulas deltas gammas alphas betas lambdas sigmas quotas agendas panoramas
replicas personas pizzas operas dramas
apis uis guis clis uris dois taxis skis wikis emojis alibis safaris bikinis minis
photos videos logos repos demos memos macros zeros radios ratios studios portfolios scenarios todos tempos
solos kilos autos euros intros promos combos gizmos undos lassos casinos stereos audios cameos pros repros
algos turbos micros halos dominos mangos cargos
menus gnus emus
"""
_SINGULARS: Final = dict(zip(_IRREGULAR.split()[::2], _IRREGULAR.split()[1::2], strict=True))
_SINGULARS.update({word: word[:-1] for word in _PLURALS.split()})
_SINGULARS.update({word: word for word in _UNCHANGED.split()})
# Words whose singular ends in -ie, -oe, -che or -use: they only lose their s.
_KEEPS_E: Final = re.compile(
    r"(?:mov|cook|self|calor|zomb|gen|hood|rook|pix|prair|magp|neckt|smooth|brown|newb|freeb|talk|bir?d|bowt|aunt"
    r"|sort|rever|ind|tech|lingerr|eyr|boug|cal|coll|edd|goal)ies"
    r"|(?:\w*sh|t|\w*t[iy]pt|can|h|ob|f|w|al|fl|r)oes"
    r"|\w*(?:ca|\ba|head|tooth|ni|avalan|cli|psy|mousta|quich|brio|fi|tran|apa)ches"
    r"|\w*[ao]uses|(?:re|mis|over|dis|ab|am|m|f|conf|diff|inf|def|ref|r|acc|exc|per)?uses"
)
_SIBILANT: Final = ("sses", "xes", "zzes", "tzes", "shes", "ches", "oes", "uses")
# A word, or a mark that ends a term. Hyphens, asterisks and back-ticks are neither.
_TOKEN: Final = re.compile(rf"{HYPHEN}|[*`]|(\w+|[^\w\s])")
_LONGEST: Final = 500  # characters of a term to find; memory grows with the square of it
# Invisible characters that do not change a word: hyphenation points, text directions.
_UNSEEN: Final = re.compile("[\xad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
# These are needed to write some words, but do not distinguish words.
_JOINERS: Final = re.compile("[\u200c\u200d\ufe0e\ufe0f]")
# A dotted I, which only Turkish distinguishes from I. Its lower case has two characters.
_DOTTED: Final = re.compile("(?:\u0130|(?<=i)\u0307)\u0307*")
_LONGEST_ACRONYM: Final = 5
# Up to five capitals, with digits between or after them: API, HTTP2, K8S; and plurals: APIs.
ACRONYM: Final = re.compile(r"(?=(?:[0-9]*[A-Z]){1,5}[0-9]*s?\Z)[A-Z][A-Z0-9]+(s?)")


@lru_cache(maxsize=100_000)
def normal_form(text: str) -> str:
    """Return the normal form of a term: lower case, single spaces, and the last word in the singular.

    An acronym is not made singular. It only loses a lower-case `s` at its end: `APIs` is `api`, and
    `CORS` is `cors`.
    """
    folded = " ".join(composed(text).split())
    start, space, last = folded.rpartition(" ")
    return lower(f"{start}{space}") + word_form(last)


def word_form(word: str) -> str:
    """Return the normal form of a single word."""
    acronym = ACRONYM.fullmatch(word)
    return word.lower().removesuffix(acronym[1]) if acronym else singular(lower(word))


def lower(text: str) -> str:
    """Return text in lower case and composed; a second call changes nothing."""
    return composed(text.lower())


@lru_cache(maxsize=100_000)
def term_key(surface: str) -> str:
    """Return the key of a term, the same for all spellings: `work package`, `workPackages`."""
    return "".join(keys_of(surface)) or lower(surface).strip()


@lru_cache(maxsize=100_000)
def spaced_key(text: str) -> str:
    """Return the key of an unknown term with spaces between words: `work_space` is not `workspace`."""
    return " ".join(map(word_key, tokens_of(apart(composed(text)))))


@lru_cache(maxsize=100_000)
def keys_of(text: str) -> tuple[str, ...]:
    """Return the keys of the words and marks of a text, in order."""
    return tuple(map(word_key, tokens_of(composed(text))))


@lru_cache(maxsize=100_000)
def places_of(run: str) -> tuple[tuple[int, int], ...]:
    """Return the span of characters of each word and mark of a run, in the order of `keys_of`."""
    places = tuple(match.span() for match in _TOKEN.finditer(run) if match[1])
    number = len(keys_of(run))
    return places if len(places) == number else ((0, len(run)),) * number


def tokens_of(text: str) -> list[str]:
    """Return the words and marks of a text, in order, without hyphens and the like."""
    plain = text if text.isascii() else _JOINERS.sub("", text).replace("’", "'")
    return list(filter(None, _TOKEN.findall(plain)))


@lru_cache(maxsize=100_000)
def word_key(word: str) -> str:
    """Return the key of a word, also in `_emphasis_`; that of an identifier joins the keys of its words."""
    return "".join(singular(word_form(part)) for part in apart(word.strip("_") or word).split())


def composed(text: str) -> str:
    """Return text in form NFKC, without unseen characters, and with I for a dotted I."""
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text)
    plain = _DOTTED.sub(lambda dotted: "I" * (dotted[0][0] == "\u0130"), _UNSEEN.sub("", folded))
    return folded if plain == folded else composed(plain)  # characters may compose now


def definition_key(definition: str) -> str:
    """Return the key of a definition: case, white space and a final full stop do not matter."""
    return " ".join(lower(definition).split()).rstrip(".")


def stem_of(surface: str) -> str:
    """Return a term with its last word in the singular; a short word may be an acronym, such as `cors`."""
    start, space, last = surface.rpartition(" ")
    return surface if len(last) <= _LONGEST_ACRONYM else f"{start}{space}{singular(last)}"


@lru_cache(maxsize=100_000)
def singular(word: str) -> str:
    """Return the singular of a word in lower case; if in doubt, the word itself."""
    if not word.isalpha():
        return word
    while (shorter := _once(word)) != word:  # so that a singular is its own singular
        word = shorter
    return word


def _once(word: str) -> str:
    if len(word) < _SHORTEST or not word.endswith("s") or word in _SINGULARS:
        return _SINGULARS.get(word, word)
    if word.endswith("es") and word.isascii() and not _KEEPS_E.fullmatch(word):
        from_y = word.endswith("ies") and len(word) >= _SHORTEST_IES
        shorter = f"{word[:-3]}y" if from_y else word[: -2 if word.endswith(_SIBILANT) else -1]
    else:
        shorter = word if word.endswith(("ss", "us", "as", "is", "os")) else word[:-1]
    return word if _VOWELS.isdisjoint(shorter) else shorter


class Occurrence(NamedTuple):
    """The place of a term in a text: `start` and `end` (exclusive) count words and marks from 0."""

    start: int
    end: int
    term: str


class KnownTerms:
    """Terms and aliases to find in texts, however their words are joined. Of equal ones, the first counts."""

    def __init__(self, terms: Iterable[str] = (), aliases: Mapping[str, str] = {}) -> None:
        self._terms: dict[str, str] = {}
        self._spaces: dict[str, int] = {}  # a bit for each place of a key where its spelling has a space
        for spelling, term in [*((term, term) for term in sorted(set(terms))), *sorted(aliases.items())]:
            if len(spelling) <= _LONGEST and (key := term_key(spelling)) not in self._terms:
                parts = map(term_key, apart(composed(spelling)).split())
                self._terms[key] = term
                self._spaces[key] = sum({1 << at for at in accumulate(map(len, parts))})
        self._starts = set(chain.from_iterable(map(accumulate, self._terms)))  # all beginnings of keys

    def name(self, key: str) -> str | None:
        """Return the term of a key."""
        return self._terms.get(key)

    def occurrences(self, runs: Iterable[Sequence[str]]) -> Iterator[Occurrence]:
        """Yield the terms in a text, in order: the longest at each place, without overlaps.

        Words are separate only where the term has a space or a hyphen: "in form" is not `inform`.

        Args:
            runs: The keys of the words and marks in each run of text without white space.
        """
        listed = list(runs)
        keys, gaps = list(chain.from_iterable(listed)), set(accumulate(map(len, listed)))
        after = 0
        for place in compress(count(), map(self._starts.__contains__, keys)):
            if place < after:
                continue
            key, end, longest, spaces = keys[place], place + 1, None, 0
            while key in self._starts:
                if key in self._terms and not spaces & ~self._spaces[key]:
                    longest, after = Occurrence(place, end, self._terms[key]), end
                if end == len(keys):
                    break
                spaces |= (end in gaps) << len(key)
                key, end = key + keys[end], end + 1
            if longest is not None:
                yield longest
