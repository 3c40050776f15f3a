"""Count the wordings in another language than most, by their script and their small words.

If the main language is English, one small word more than English ones is enough, else two more than of the
main language. If no language clearly has the most wordings, none counts: precision comes first.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from vocabgap.text import SHOWN_CHARACTERS, script

_ENGLISH: Final = "English"
_SMALL_WORDS: Final = {
    _ENGLISH: "the a an of to in on for with without from by and or not no non is are am was be can do does"
    " did have has will would this that it its as at so also all any more than into over per me my we you"
    " your i what how when where which who if use add set",
    "German": "der die das den dem des ein eine einen einer und oder nicht kein keine mit ohne für von vom"
    " zum zur im am auf aus beim nach vor über als ist sind wird werden kann können wenn sich bitte",
    "French": "le la les un une des du de et ou ne pas avec sans pour par dans sur aux est sont ce cette qui",
    "Spanish": "el la los las un una de del con sin para por en al es se que su sus este esta como más está",
    "Portuguese": "os um uma de do da dos das ou não com sem para por em no na nos nas ao à é se que seu sua",
    "Italian": "il lo la le gli un una di del della dei delle con senza per da dal dalla nel nella al alla è",
    "Dutch": "de het een en of niet geen met zonder voor van naar aan bij uit te om zijn wordt kan kunnen",
}
_OTHERS: Final = [name for name in _SMALL_WORDS if name != _ENGLISH]
_LANGUAGES: Final = {
    word: [name for name, theirs in _SMALL_WORDS.items() if word in theirs.split()]
    for words in _SMALL_WORDS.values()
    for word in words.split()
}
_MARKS: Final = "\"'“”„«»()[]{}.,;:!?¡¿…"  # around words; other signs join parts of names and addresses


def in_other_languages(wordings: Iterable[str]) -> int:
    """Count the wordings in another language than most; none if no language clearly has the most."""
    scores = [_points(wording[:SHOWN_CHARACTERS]) for wording in wordings]
    best = [[name for name in each if each[name] == max(each.values())] for each in scores]
    mains = Counter(names[0] for names in best if len(names) == 1)
    main = max(sorted(mains), key=mains.__getitem__, default=_ENGLISH)
    if mains[main] < max(sum(map(bool, best)) / 2, len(scores) / 5):
        return 0
    lead = 1 if main == _ENGLISH else 2
    return sum(max(each.values(), default=0) >= each.get(main, 0) + lead for each in scores)


def _points(wording: str) -> dict[str, int]:
    """Return the points of each language or script; a word with an accent is one for all but English."""
    is_ascii = wording.isascii()
    scripts = Counter() if is_ascii else Counter(map(script, filter(str.isalpha, wording)))
    scripts["CJK"] += scripts.pop("HIRAGANA", 0) + scripts.pop("KATAKANA", 0)
    latin = scripts.pop("LATIN", 0)
    if 2 * scripts.total() > latin:
        return {max(sorted(scripts), key=scripts.__getitem__): len(wording)}
    words = [word for part in wording.split() if (word := part.strip(_MARKS)).isalpha()]
    words = [word for word in words if len(word) == 1 or not word.isupper()]
    known = [_LANGUAGES[word] for word in map(str.lower, words) if word in _LANGUAGES]
    if is_ascii and all(_ENGLISH in names for names in known):  # most wordings
        return {_ENGLISH: len(known)} if known else {}
    points = Counter(name for names in known for name in names)
    accents = len(words) - sum(map(str.isascii, words))
    if points or accents > 1:  # a single word may be a name
        points.update(dict.fromkeys(_OTHERS, accents))
    return points
