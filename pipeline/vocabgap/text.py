"""Surface forms, which normalise phrases for comparison, and safe display of text from logs."""

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain
from threading import get_ident
from typing import Any, Final

import msgspec

from vocabgap.errors import InvalidInputError, texts
from vocabgap.messages import unknown_name

# A hyphen between words, or between a word and a number; not a minus between two numbers.
HYPHEN: Final = r"[-‐](?:(?<=[^\W_].)(?=[^\W\d_])|(?<=[^\W\d_].)(?=[^\W_]))"
_BOUNDARY = re.compile(
    rf"{HYPHEN}|(?<=[^\W_])_+(?=[^\W_])"
    r"|(?<=[a-zß-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])"  # toneCurve -> tone Curve
    r"|(?<=[A-ZÀ-ÖØ-Þ])(?=[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]{2})"  # HDRStyle -> HDR Style, but not URLs -> UR Ls
)
# The part of a command before the sign that makes it one.
_CI_COMMAND = re.compile(r"^[^\S\n]*:(?=:)|#(?=#[\w.-]*\[)", re.MULTILINE)
_FIGURES = re.compile(r"\d+(?: \d+)*")  # of a surface form, where 0.5 is 0 5

# Invisible characters, such as text directions: they change what a reader sees.
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Unicode counts these as letters or symbols, but they look blank.
_BLANK_LOOKING = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U0001d159")
# Unicode counts these as marks, but they are invisible, such as variation selectors.
_UNSEEN_MARK = re.compile("[\u034f\u180b-\u180f\ufe00-\ufe0f\U00016fe4\U000e0100-\U000e01ef]")
# Joiners and selectors are part of emoji; joiners are also part of words in several scripts.
_NEEDED = frozenset("\u200c\u200d\ufe0e\ufe0f")
_JOINING = "\u0600-\u109f\u1700-\u1aaf\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
_EMOJI = "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_STRAY_SELECTOR = re.compile(rf"(?<![{_EMOJI}])(?!(?<=[0-9#*])\ufe0f\u20e3)[\ufe0e\ufe0f]")
_STRAY_JOINER = re.compile(rf"(?<![{_JOINING}])(?!(?<=[{_EMOJI}\ufe0f])\u200d[{_EMOJI}])[\u200c\u200d]")
_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>#|~&!$^]")
_OPENING: Final = re.compile(r"^(\s*)([-+=])")  # a list item, a heading's underline
_NUMBERED: Final = re.compile(r"^(\s*\d{1,9})([.)])")
# Text that GitHub, GitLab or linkify-it may turn into a link, anywhere in a word: a URL, a host, an IP or
# mail address, a mention of a user, the number of an issue, or a commit.
_LINKED: Final = re.compile(
    r"(?ia)//|@(?=\S)|(?<![a-z0-9+.-])[0-9+.-]*[a-z][a-z0-9+.-]*:(?=\S)|www(?![a-z0-9])"
    r"|[^\s.]\.(?u:[^\W\d_]){2}|(?<![0-9])(?:[0-9]+\.){3}[0-9]"
    r"|#(?=[0-9])|\bgh-(?=[0-9])|!(?=[0-9])|(?<![\w-])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b"
)
# A word with what is before it. This is white space, characters that cannot be code in a table cell, and
# punctuation that is not part of an address, as at its end.
_MARKED_WORD: Final = re.compile(r"""([\s`|(\[{<"'“‘«]*)([^\s`|]*)""")
_AT_END: Final = ")]}>\"'”’».,;:!?"
SHOWN_CHARACTERS: Final = 500
COMPARED_CHARACTERS: Final = 20_000
"""The first characters of a text, which alone are compared; a longer one is no wording, but a paste."""


class _Characters(dict[int, str]):
    """A translation table that is filled when a character is first met."""

    def __init__(self, translated: Callable[[str], str]) -> None:
        super().__init__()
        self._translated = translated

    def __missing__(self, codepoint: int) -> str:
        self[codepoint] = translated = self._translated(chr(codepoint))
        return translated


# Words that mean another thing without their sign: C++, C#, B♭, +1, <5, 50%; and "not equal" and currencies.
_NUMBER: Final = r"[0-9]+(?:[.,][0-9]+)*"
_SIGNED: Final = re.compile(
    r"((?<![^\W_])[a-z]+\+\+(?![^\W\d]|\+)|(?<![^\W_])[a-z](?:[#♯]|♭)(?![\w#])"
    rf"|(?:(?<![\w)\]+−-])[+−±-]|(?<![<>=-])(?:[<>]=?|[≤≥]) ?){_NUMBER}(?: ?%)?"
    rf"|(?<![\w.,]){_NUMBER} ?%|!=|≠|(?<![\w.,])[€£¥₹$](?![\w{{(]))",
    re.IGNORECASE,
)
_MAY_BE_SIGNED: Final = re.compile(r"[+#%<>=$♯♭−±≤≥≠€£¥₹＋＃％＜＞＝＄－]")
_MINUS: Final = re.compile("-[0-9]")
_SPELLINGS: Final = str.maketrans({" ": "", "♯": "#", "−": "-", "≤": "<=", "≥": ">=", "≠": "!="})


def _of_a_word(character: str) -> str:
    if character in "'’ʼ" or character in _NEEDED:  # the three apostrophes that occur inside words
        return ""
    is_apart = unicodedata.category(character)[0] in "PSZ" or character in _BLANK_LOOKING
    return " " if is_apart else _plain(character)


def _plain(character: str) -> str:
    """Remove an invisible character, or turn it into a space if it separates words."""
    if unicodedata.category(character) == "Cf" or _UNSEEN_MARK.match(character):
        return {"\u200b": " "}.get(character, character if character in _NEEDED else "")
    return " " if unicodedata.category(character)[0] == "C" else character


def _visible(character: str) -> str:
    return _escaped(character) if character not in _NEEDED and _is_unseen(character) else character


def _in_json(character: str) -> str:
    """Escape an invisible character so that a JSON parser restores it."""
    return json.dumps(character).strip('"') if _is_unseen(character) else character


def _is_unseen(character: str) -> bool:
    return (
        unicodedata.category(character) in _UNSEEN_CATEGORIES
        or character in _BLANK_LOOKING
        or _UNSEEN_MARK.match(character) is not None
    )


def _escaped(character: str) -> str:
    codepoint = ord(character)
    return f"\\u{codepoint:04x}" if codepoint <= 0xFFFF else f"\\U{codepoint:08x}"  # noqa: PLR2004


_WORD_CHARACTERS = _Characters(_of_a_word)
_PLAIN_CHARACTERS = _Characters(_plain)
_VISIBLE_CHARACTERS = _Characters(_visible)
_JSON_CHARACTERS = _Characters(_in_json)


def apart(text: str) -> str:
    """Return text with the words of identifiers apart: camelCase, `snake_case` and kebab-case."""
    return _BOUNDARY.sub(" ", text)


def plain(phrase: str) -> str:
    """Return a phrase without invisible characters, except those that may be part of words or emoji."""
    return phrase if phrase.isascii() else phrase.translate(_PLAIN_CHARACTERS)


def without_message(phrase: str) -> str:
    """Return the name, in words, of the tool that a message calls unknown; leave other phrases unchanged."""
    name = unknown_name(phrase)
    return (re.sub(r"[\W_]+", " ", apart(name)).strip().lower() if name else "") or phrase


def words(phrase: str) -> list[str]:
    """Return the words of a phrase, unstemmed and in order.

    Compatibility forms (NFKC) and case are folded. Identifiers and hyphens are split; punctuation marks,
    symbols and control characters separate words. Apostrophes and invisible characters are removed.
    Only the first `COMPARED_CHARACTERS` are read.
    """
    phrase = phrase[:COMPARED_CHARACTERS]
    if phrase.isascii() and phrase == phrase.lower():  # most phrases
        return phrase.translate(_WORD_CHARACTERS).split()
    split = apart(unicodedata.normalize("NFKC", plain(phrase)))
    # Case folding, or removing a character between a letter and its accent, may undo the composition.
    folded = unicodedata.normalize("NFKC", split.casefold()).translate(_WORD_CHARACTERS)
    return unicodedata.normalize("NFKC", folded).split()


_HAN: Final = "\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_OR_KANA: Final = f"{_HAN}\u3041-\u30ff"
_OTHERS: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_RUNS: Final = re.compile(f"[{_HAN_OR_KANA}]+|[{_OTHERS}]+|[^{_HAN_OR_KANA}{_OTHERS}]+")
_PIECES: Final = re.compile(f"(?=([{_HAN}])|)(?=([{_HAN_OR_KANA}]{{2}}|[{_OTHERS}]{{3}})|).")


def pieces(words: Iterable[str]) -> Iterator[str]:
    """Yield words; if they are in a script without spaces, yield their pieces instead.

    Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces, so a phrase is one long word.
    Pieces are single ideographs and pairs of characters, or triples of the letters of alphabets, as search
    engines use them. This needs no dictionary.
    """
    for word in words:
        if word.isascii():
            yield word
            continue
        for run in _RUNS.findall(word):
            parts = [piece for pieces in _PIECES.findall(run) for piece in pieces if piece]
            yield from parts or [run]


@cache
def script(letter: str) -> str:
    """Return the first word of a letter's name in Unicode, which is its script in nearly all cases."""
    return unicodedata.name(letter, "LATIN").partition(" ")[0]


def trigrams(word: str) -> list[str]:
    """Return the trigrams of a word with a blank on either side, in order."""
    padded = f" {word} "
    return [padded[at : at + 3] for at in range(len(padded) - 2)]


@cache
def _stemmer(thread: int) -> Any:  # noqa: ANN401, ARG001 - without types; one per thread
    # A stemmer holds the word that it works on, so threads that share one get wrong stems.
    from snowballstemmer import stemmer  # noqa: PLC0415 - many commands do not need it

    return stemmer("english")


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the Snowball (Porter 2) stem of a lower-case word; a word with a digit is its own stem."""
    if any(map(str.isdigit, word)):
        return word
    return str(_stemmer(get_ident()).stemWord(word))


def _stems_of(phrase: str) -> list[str]:
    """Return the stems of the words of a phrase, in order."""
    # Beyond ASCII, white space may be part of a sign, or a sign become white space.
    parts = phrase.split() if phrase.isascii() else [phrase]
    return list(chain.from_iterable(map(_stems_of_part, parts)))


@lru_cache(maxsize=100_000)
def _stems_of_part(part: str) -> tuple[str, ...]:
    return tuple(map(stem, words(part)))


def without_commands(text: str) -> str:
    """Escape what a job of GitHub, Azure or TeamCity would read as a command: `::` and `##name[`."""
    return _CI_COMMAND.sub(r"\g<0>\\", text)


def without_numbers(form: str) -> str:
    """Return a surface form with a 0 for each of its numbers."""
    return _FIGURES.sub("0", form)


def numbers_in(form: str) -> tuple[str, ...]:
    """Return the numbers of a surface form, in order."""
    return tuple(_FIGURES.findall(form))


def differing_in_numbers(wordings: Iterable[str]) -> str:
    """Say how many wordings differ from another one only in numbers; empty if none does."""
    surfaces = [surface(wording) for wording in wordings if _FIGURES.search(wording)]
    alike = Counter(map(without_numbers, set(surfaces)))
    differing = sum(alike[without_numbers(form)] > 1 for form in surfaces)
    return f"{differing:,} wordings differ only in numbers" if differing else ""


@cache
def _without_clutter() -> Callable[[str], str]:
    from vocabgap.clutter import without_clutter  # noqa: PLC0415 - its patterns take 15 ms, and `log` needs none

    return without_clutter


def surface(phrase: str) -> str:
    """Return the surface form of a phrase: its stemmed words, joined by single spaces.

    Phrases with the same surface are one point of the clustering. Signs that carry meaning stay: `c++`, `+1`,
    `<=5`, `50%`. A phrase without words (`"???"`, an emoji) is its own surface, with case and white space
    folded. Clutter, such as markup or a stack trace, does not count. Only the first `COMPARED_CHARACTERS` of
    the rest are read.
    """
    phrase = without_message(_without_clutter()(phrase)[:COMPARED_CHARACTERS])
    stems = _stems_of(phrase)
    if _MAY_BE_SIGNED.search(phrase) or _MINUS.search(phrase):
        parts = _SIGNED.split(unicodedata.normalize("NFKC", plain(phrase)))
        if len(parts) > 1:
            stems = [
                word
                for number, part in enumerate(parts)
                for word in ([part.lower().translate(_SPELLINGS)] if number % 2 else _stems_of(part))
            ]
    return " ".join(stems) or " ".join(unicodedata.normalize("NFKC", phrase).casefold().split())


_OWN: Final = "\N{NO-BREAK SPACE}"  # no surface has one


def own_form(phrase: str) -> str:
    """Return the name of a phrase that people separated from other phrases with its surface.

    Only compatibility forms (NFKC), case and white space are folded.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", phrase).casefold())
    return f"{surface(phrase)}{_OWN}({' '.join(folded.split())})"


def form(phrase: str, separated: Collection[str]) -> str:
    """Return the form of a phrase: its own form if that is separated, else its surface."""
    own = own_form(phrase) if separated else ""
    return own if own in separated else surface(phrase)


def surface_of(form: str) -> str:
    """Return the surface that a form was separated from; a surface stays as it is."""
    return form.partition(_OWN)[0]


def visible(value: str) -> str:
    r"""Return text from a log as one line that is safe to print.

    White space becomes single spaces. Control characters, text directions, zero-width characters and lone
    surrogates become escapes (`\u001b`). Joiners and selectors stay only inside letters and emoji.
    """
    return escape_unseen(" ".join(value.split()))


def escape_unseen(value: str) -> str:
    """Escape invisible characters like `visible`, but keep all spaces; line breaks become escapes."""
    if value.isascii() and value.isprintable():  # most text
        return value
    shown = value.translate(_VISIBLE_CHARACTERS)
    if _NEEDED.isdisjoint(shown):
        return shown
    for stray in (_STRAY_SELECTOR, _STRAY_JOINER):
        shown = stray.sub(lambda match: _escaped(match[0]), shown)
    return shown


def can_be_seen(value: str) -> bool:
    """Tell whether a text has a visible letter, digit, punctuation mark or symbol."""
    if value.isascii() and value.isprintable():  # most text
        return bool(value.strip())
    return any(unicodedata.category(sign)[0] in "LNPS" and sign not in _BLANK_LOOKING for sign in value)


def escape_unseen_in_json(document: str) -> str:
    """Return an equivalent JSON document, on one line, that is safe to print."""
    return document.translate(_JSON_CHARACTERS)


def without_commands_in_json(document: str) -> str:
    """Return an equivalent JSON document without `##`, with which commands for CI begin."""
    return document.replace("##", r"\u0023\u0023")


def indented_json(value: object, encoding: str = "utf-8") -> str:
    """Return a value as JSON of several lines that an encoding has, without commands for CI."""
    document = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if carried(document, encoding) != document:
        document = json.dumps(msgspec.to_builtins(value), indent=2)  # in ASCII
    return without_commands_in_json(document)


def carried(value: str, encoding: str) -> str:
    """Return text with escapes for the characters that an encoding does not have."""
    return value.encode(encoding, "backslashreplace").decode(encoding)


def shortened(value: str, most: int = SHOWN_CHARACTERS) -> str:
    """Return at most `most` characters of a text, and its length if it is cut."""
    if len(value) <= most:
        return value
    kept = value[:most].rstrip("".join(_NEEDED))
    return f"{kept}… ({len(value):,} characters)"


def excerpt(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """Return text from a log for display: escape invisible characters and cut long text."""
    return shortened(visible(text), most)


def literal(text: str) -> str:
    """Return a line as Markdown that renders as it is; a word that may become a link becomes code."""
    text = _MARKED_WORD.sub(_as_markdown, text)
    text = _NUMBERED.sub(r"\1\\\2", text)
    return _OPENING.sub(r"\1\\\2", text)


def _as_markdown(match: re.Match[str]) -> str:
    before, marked = match.groups()
    word = marked.rstrip(_AT_END)
    shown = f"`{word}`" if _LINKED.search(word) else _SPECIAL.sub(r"\\\g<0>", word)
    return _SPECIAL.sub(r"\\\g<0>", before) + shown + _SPECIAL.sub(r"\\\g<0>", marked[len(word) :])


def short_hash(digest: str) -> str:
    """Return the first digits of a hash, which are enough to name a record."""
    return visible(digest)[:12]


def is_excerpt(shown: str, text: str) -> bool:
    """Tell whether a text is displayed as `shown`, perhaps cut."""
    return shown in {visible(text), excerpt(text, max(shown.rfind("… ("), 0))}


def unit_names(unit: str) -> tuple[str, str]:
    """Return the singular and the plural of a unit such as `image` or `process/processes`."""
    one, _, several = unit.partition("/")
    return one, several or f"{one}s"


def count(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: `1 image`, `1,204 images`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def in_units(number: int, unit: str, adjective: str = "") -> str:
    """Return a number of units in words: `3 images`, `3 more processes`."""
    return count(number, *(f"{adjective} {name}".lstrip() for name in unit_names(unit)))


def in_words(name: str) -> str:
    """Return an identifier, such as `invalid_json`, in words."""
    return name.replace("_", " ")


FILTERS: Final = {each.__name__: each for each in (count, differing_in_numbers, in_words, short_hash)}
"""Functions that are filters in all templates."""


def printable_name(name: str) -> str:
    """Return a file's name as text in any locale: bytes that are not UTF-8 become escapes."""
    if name.isascii():
        return name
    return os.fsencode(name).decode("utf-8", "backslashreplace")


_FUNCTION_WORDS: Final = """
a an the this that these those it its there here
of to for in on at by with from as into onto upon and or if so than then
is are be been being was were am do does did has have had having
can could may might must shall should will would
i me my we us our you your he him his she her they them their
what which who whom whose when where how why just also
"""
_REQUEST_WORDS: Final = (
    "please want wants wanted wanting need needs needed needing wish lack lacks lacking missing"
)

# Negations ("not", "no", "without") are missing here, because they reverse a need.
FUNCTION_WORDS: Final = frozenset(_FUNCTION_WORDS.split())
# These only express a wish, as every record does.
REQUEST_WORDS: Final = frozenset(_REQUEST_WORDS.split())


def ignored_stems(stop_words: Iterable[str] = ()) -> frozenset[str]:
    """Return the stems of function words, request words and the given stop words."""
    return _always_ignored() | _stems(texts("stop_words", stop_words))


@cache
def _always_ignored() -> frozenset[str]:
    return _stems(FUNCTION_WORDS | REQUEST_WORDS)


def _stems(listed: Iterable[str]) -> frozenset[str]:
    return frozenset(stem(part) for word in listed for part in words(word))


def content_words(surface: str, ignored: frozenset[str]) -> list[str]:
    """Return the words of a surface that are not ignored; all words if none would be left."""
    every = surface.split()
    return [word for word in every if word not in ignored] or every


Stems = tuple[str, ...]


def synonym_table(
    synonyms: Mapping[str, Iterable[str]], ignored: frozenset[str], *, name: str = "synonyms"
) -> dict[Stems, Stems]:
    """Return the content stems of each synonym with the stems that replace them.

    Inflection, case, hyphens and ignored words do not matter. A synonym that is empty or belongs to two words
    is an error, which names `name`.
    """

    def stems_of(wording: str) -> Stems:
        if stems := tuple(content_words(surface(wording), ignored)):
            return stems
        raise InvalidInputError(f"{name}: a wording is empty", hint="expected a word or a phrase")

    def refused(problem: str) -> InvalidInputError:
        hint = "a synonym can belong to one word only; list all synonyms under that word"
        return InvalidInputError(f"{name}: {problem}", hint=hint)

    table: dict[Stems, Stems] = {}
    word_of: dict[Stems, str] = {}
    for word, others in synonyms.items():
        for other in texts(name, others):
            source, target = stems_of(other), stems_of(word)
            if table.get(source, target) != target:
                raise refused(f"'{other}' is a synonym of both '{word_of[source]}' and '{word}'")
            if source != target:
                table[source], word_of[source] = target, word
    for word in synonyms:
        if (target := stems_of(word)) in table:
            raise refused(f"'{word}' has synonyms but is a synonym of '{word_of[target]}'")
    return table
