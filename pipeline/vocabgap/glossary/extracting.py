"""Extraction of the terms of a text, each with a confidence."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from importlib import resources
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple

from vocabgap.errors import InvalidInputError, nearest, unusable
from vocabgap.glossary.linting import NO_PROSE, prose_of, sentences, without_code
from vocabgap.glossary.normal_form import (
    ACRONYM,
    KnownTerms,
    composed,
    normal_form,
    singular,
    spaced_key,
    term_key,
    tokens_of,
    word_form,
    word_key,
)
from vocabgap.glossary.senses import DRAFTED, SIGNS, ExtractedTerm, TermSource, stored_surface
from vocabgap.text import FUNCTION_WORDS

# The hundred most common words of English.
_COMMONEST: Final = """
the be to of and a in that have i it for not on with he as you do at this but his by from they we
say her she or an will my one all would there their what so up out if about who get which go me when
make can like time no just him know take people into year your good some could them see other than
then now look only come its over think also back after use two how our work first well way even new
want because any these give day most us
"""
# Beginnings of words with an apostrophe.
_CUT: Final = "ain aren couldn didn doesn don hadn hasn haven isn mustn needn shouldn wasn weren won wouldn"
# Marks of open work, and common abbreviations.
_MARKS: Final = "todo fixme xxx wip tbd tba nb ok fyi asap ps etc ie eg am pm ci cd"
_STOP_WORDS: Final = frozenset(_COMMONEST.split())
_NO_NOUNS: Final = _STOP_WORDS | FUNCTION_WORDS | frozenset(_CUT.split())
_NO_ACRONYMS: Final = _STOP_WORDS | frozenset(_MARKS.split())
_MOST: Final = 80  # characters of a phrase; a longer phrase is a quotation, not a term
_FEW: Final = 40  # between straight single marks, which may also be apostrophes
# A mark opens a phrase if no word or mark is before it and no white space after it. It closes a phrase the
# other way round. An inch mark, after a digit, does not open. An apostrophe in a word does neither.
_KINDS: Final[Mapping[str, re.Pattern[str]]] = {
    '"': re.compile(rf'"(?<![\w"]")(?=[^\s"])([^"]{{1,{_MOST}}})(?<!\s)"(?![\w"])'),
    "“": re.compile(rf"[“„](?=\S)([^“”„]{{1,{_MOST}}})(?<!\s)[“”]"),
    "‘": re.compile(r"‘(?=\S)([^‘’]+(?:(?<=\w)’(?=\w)[^‘’]+)*)(?<!\s)’"),
    "'": re.compile(
        r"'(?<![\w']')(?![\s']|\d\ds?\b|(?:tis|twas|em|til|cause|n)\b)"
        r"([^'\n]+(?:(?<=\w)'(?=\w)[^'\n]+)*)(?<!\s)'(?![\w'])"
    ),
    "`": re.compile(rf"`(?<!``)(?=\S)([^`\n]{{1,{_MOST}}})(?<!\s)`(?!`)"),
    "«": re.compile(rf"«\s?([^«»\n]{{1,{_MOST}}})\s?»"),
}
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
# snake_case, SCREAMING_SNAKE and __dunder__; words with digits; camelCase, PascalCase and HTTPServer, but no
# words in capitals and no plurals of acronyms.
_CASING: Final = re.compile(
    r"_*[^\W\d_][^\W_]*(?:_+[^\W_]+)+_*|__[^\W\d_][^\W_]*__|[a-z]{2,}[0-9]+[a-z0-9]*"
    r"|(?=[^_]*[a-z])[A-Za-z][a-z0-9]*(?:[A-Z]+[a-z0-9]+)+[A-Z]*|[a-z][a-z0-9]*[A-Z][A-Za-z0-9]*"
)
_KEBAB: Final = re.compile(r"(?<![\w-])[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?![\w-])")
_ARTICLES: Final = "a an the this that these those each every any no its our their one another"
# Words with capitals after a word without. They head their phrase if a mark or a function word follows:
# "the Teamspace is", but not "the Teamspace owner".
_NAME: Final = re.compile(
    r"\b(?P<before>[a-z]+)[,;]? (?P<name>[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*)(?![\w'’-])"
    rf"(?:(?=\Z|[^\w\s/{NO_PROSE}]| [^\w\s{NO_PROSE}]| (?:{'|'.join(sorted(FUNCTION_WORDS))})\b)(?P<head>))?"
)
# Headings and rows of tables.
_TITLE: Final = re.compile(
    r"^(?:#{1,6} .*|[ \t]*\|.*|.+(?=\n(?:={3,}|-{3,}|~{3,}|\^{3,}|'{3,})[ \t]*$))", re.MULTILINE
)
_LEAST_PLAIN: Final = 0.6  # share of words without capitals in running prose
_LEAST_LETTERS: Final = 3  # of a word that is a term if it is frequent
OFTEN: Final = 3  # uses that make a word a term
_WATCHED, _ALIASES, _EXCLUDED = "glossary_watch_terms", "glossary_aliases", "glossary_exclude_terms"
_FIELDS: Final = "glossary_fields"
WANTED: Final = "glossary_signs"  # in the metadata of a step: the signs to use
_KEYS: Final = (_WATCHED, _ALIASES, _EXCLUDED, _FIELDS, WANTED, "glossary_check", "glossary_check_strictness")
_NOTHING_KNOWN: Final = KnownTerms()
_Find = tuple[str, str]  # the normal form of a term, and its spelling in the text


class Field(NamedTuple):
    """A text to scan, and its name, such as `step input: description field`."""

    context: str
    text: str


class Found(NamedTuple):
    """The distinct finds of some texts, the surest first."""

    terms: list[ExtractedTerm]  # they may lead to conflicts
    drafts: list[ExtractedTerm]  # they never do


def extract(
    fields: Iterable[Field],
    metadata: Mapping[str, Any],
    known: KnownTerms = _NOTHING_KNOWN,
    no_terms: frozenset[str] = frozenset(),
) -> Found:
    """Return the terms and drafts of some texts, each with its first sign.

    Args:
        fields: The texts.
        metadata: The step's terms to watch (`glossary_watch_terms`, values of `glossary_aliases`), texts that
            are not terms (`glossary_exclude_terms`, keys of `glossary_aliases`), and the signs to use.
        known: The terms that have a meaning already.
        no_terms: The keys of texts that people have said are not terms.
    """
    texts = [_Scanned(field, known) for field in fields]
    nouns = Counter[str]()
    for text in texts:
        nouns.update(text.nouns)
    often = [noun for noun, times in nouns.items() if times >= OFTEN]
    pairs = [*named.items()] if isinstance(named := metadata.get(_ALIASES), Mapping) else []
    aliases = {key: term for key, term in pairs if isinstance(key, str) and isinstance(term, str)}
    hints = {_WATCHED: _texts(metadata.get(_WATCHED)), _ALIASES: [*aliases.values()]}
    finds: list[tuple[TermSource, str, Iterable[_Find]]] = [
        (TermSource.METADATA_HINT, f"metadata: {key}", [(normal_form(term), term) for term in terms])
        for key, terms in hints.items()
    ]
    whole = "\n".join(text.raw for text in texts)
    wanted = metadata.get(WANTED)
    signs = [sign for sign in TermSource if not isinstance(wanted, list | tuple) or sign in wanted]
    finds += [(sign, text.context, text.found(sign, often, whole)) for sign in signs for text in texts]
    without = metadata.get(_EXCLUDED)
    excluded = set(map(term_key, _texts([*without] if isinstance(without, set | frozenset) else without)))
    excluded |= no_terms | set(map(term_key, aliases)) - set(map(term_key, aliases.values()))
    terms: dict[str, ExtractedTerm] = {}
    drafts: dict[str, ExtractedTerm] = {}
    for source, context, spelled in finds:
        for form, original in spelled:
            form_key = term_key(form)
            own = known.name(form_key)
            if own is None and len(form) > _MOST:  # such as encoded data
                continue
            key, term = spaced_key(own or original or form), stored_surface(own or form)
            if term is not None and key not in terms and key not in drafts and form_key not in excluded:
                finds_of = drafts if source is DRAFTED else terms  # the drafts come last
                finds_of[key] = ExtractedTerm(term, source.value, SIGNS[source], original, context)
    return Found(*(sorted(them.values(), key=attrgetter("place")) for them in (terms, drafts)))


def _texts(listed: object) -> list[str]:
    return [text for text in listed if isinstance(text, str)] if isinstance(listed, list | tuple) else []


def scanned_fields(
    step_input: Mapping[str, Any], step_output: Mapping[str, Any], metadata: Mapping[str, Any]
) -> list[Field]:
    """Return the texts of a step to scan: of its input, then of its output.

    Raises:
        InvalidInputError: The metadata has an unknown name, or the step may hold text that is not scanned.
    """
    names: Iterable[str] = ("description", "prompt", "output")
    signs, wanted = metadata.get(WANTED), metadata.get(_FIELDS)
    known: list[tuple[object, Collection[str]]]
    known = [(key, _KEYS) for key in metadata if str(key).startswith("glossary_")]
    if isinstance(signs, list | tuple):
        known += [(sign, tuple(TermSource)) for sign in signs]
    if isinstance(wanted, list | tuple | set | frozenset) and all(isinstance(name, str) for name in wanted):
        names = wanted if isinstance(wanted, list | tuple) else sorted(wanted)
        known += [(name, (*step_input, *step_output)) for name in names]
    for name, expected in known:
        if name not in expected:
            raise InvalidInputError(f"metadata: unknown {name!r}", hint=nearest(str(name), expected))
    fields = [
        Field(place, "\n\n".join(texts_in(values[name], place)))
        for what, values in (("input", step_input), ("output", step_output))
        for name in dict.fromkeys(names)
        if name in values
        for place in [f"step {what}: {name} field"]
    ]
    is_missed = wanted is None and not any(name in step_input for name in names)
    if is_missed and metadata.get("critical_step") and any(texts_in(list(step_input.values()))):
        hint = f"expected one of {', '.join(names)}, or others in the metadata under `{_FIELDS}`"
        raise InvalidInputError("no field of the critical step is scanned for terms", hint=hint)
    return fields


def texts_in(value: object, place: str = "") -> Iterator[str]:
    """Yield the texts in a value; with a place, raise InvalidInputError for other kinds, such as bytes."""
    if isinstance(value, str):
        yield value.encode("utf-8", "replace").decode()  # half of a surrogate pair cannot be logged
    elif isinstance(value, Mapping | list | tuple):
        for part in chain.from_iterable(value.items()) if isinstance(value, Mapping) else value:
            yield from texts_in(part, place)
    elif place and value is not None and not isinstance(value, bool | int | float):
        raise unusable(place, "text, numbers, lists and mappings", value)


class _Scanned:
    """A text that is split once for all signs. Each distinct word is read once."""

    def __init__(self, field: Field, known: KnownTerms) -> None:
        self.context, self.raw = field
        self._text = _PARAGRAPH.sub(f"\n\n{NO_PROSE}\n\n", without_code(field.text, known))
        self._readings = list(map(_read, self._text.split()))
        keys_by_run = list(map(attrgetter("keys"), self._readings))
        self._known = list(known.occurrences(keys_by_run))
        self._long = [term for term in self._known if term.end > term.start + 1]
        # The keys of words that may be nouns, each with the number of its uses outside known terms.
        self.nouns = Counter(chain.from_iterable(map(attrgetter("nouns"), self._readings)))
        keys = list(chain.from_iterable(keys_by_run))
        for key in chain.from_iterable(keys[term.start : term.end] for term in self._long):
            self.nouns[key] = max(0, self.nouns[key] - 1)

    def found(self, source: TermSource, often: Iterable[str], whole: str) -> Iterable[_Find]:
        """Return the finds of a sign, without spellings inside a longer known term."""
        match source:
            case TermSource.KNOWN_TERM:
                return dict.fromkeys((known.term, known.term) for known in self._known)
            case TermSource.REPEATED_NOUN:
                return [(noun, noun) for noun in often if self.nouns[noun]]
            case TermSource.QUOTED_PHRASE:
                return [(_phrase(phrase), phrase) for phrase in self._free(quoted(self._text))]
            case TermSource.COINED:
                heads = self._free(name for name, is_head in self._names.items() if is_head)
                return [(normal_form(name), name) for name in heads if _is_coined(name, whole)]
            case TermSource.CAPITALISED:
                names = (name for name in self._names if " " in name or not is_ordinary(name))
                return [(normal_form(name), name) for name in self._free(names)]
        return [find for sign, find in self._spelled if sign is source]

    @cached_property
    def _names(self) -> Mapping[str, bool]:
        """The names in running prose, each with whether it heads a phrase that begins with an article."""
        names: dict[str, bool] = {}
        raw = _TITLE.sub("", self.raw)
        prose = without_code(prose_of(raw, ".md"), _NOTHING_KNOWN) if _NAME.search(raw) else ""
        for sentence in sentences(prose):
            words = re.findall(r"[A-Za-z]\w*", _NAME.sub(r"\g<before>", sentence))
            if sum(map(str.islower, words)) >= _LEAST_PLAIN * len(words):  # no title
                for match in _NAME.finditer(sentence):
                    is_head = match["head"] is not None and match["before"] in _ARTICLES.split()
                    names[match["name"]] = is_head or names.get(match["name"], False)
        return names

    @cached_property
    def _spelled(self) -> Iterable[tuple[TermSource, _Find]]:
        spelled: dict[tuple[TermSource, _Find], None] = {}
        owners = {place: term for term in self._long for place in range(term.start, term.end)}
        begin = 0
        for run in self._readings:
            for sign in run.signs:
                owner = owners.get(begin + sign.start)
                if owner is None or sign.length >= owner.end - owner.start:
                    spelled[sign.source, sign.find] = None
            begin += len(run.keys)
        return spelled

    def _free(self, phrases: Iterable[str]) -> Iterator[str]:
        """Yield the phrases that are not part of a longer known term in the text."""
        owners = {term_key(known.term) for known in self._long}
        for phrase in phrases:
            key = term_key(phrase)
            if key in owners or not any(key in owner for owner in owners):
                yield phrase


@lru_cache(maxsize=100_000)
def _phrase(phrase: str) -> str:
    form = normal_form(phrase)
    has_word = len(form) > 1 and any(map(str.isalnum, form))
    return form if has_word and _STOP_WORDS.isdisjoint((form, phrase.lower())) else ""


def quoted(text: str) -> Iterator[str]:
    """Yield the phrases between quotation marks of any kind, without punctuation at their ends."""
    for mark, pattern in _KINDS.items():
        longest = _FEW if mark == "'" else _MOST
        for phrase in pattern.findall(text):
            if len(phrase) <= longest and not _PARAGRAPH.search(phrase):
                yield phrase.strip().rstrip(",.;:!?…")


def spelled_as(word: str) -> tuple[TermSource, _Find] | None:
    """Return the sign of a word's spelling and the find; None if the spelling is plain."""
    if len(word) == 1 or (word.isalpha() and word[1:].islower()):
        return None
    if ACRONYM.fullmatch(word):
        form = word_form(word)
        is_shouted = any(map(str.isupper, word[1:]))
        return (TermSource.ACRONYM, (form, word)) if is_shouted and form not in _NO_ACRONYMS else None
    return (TermSource.CASING_PATTERN, (word_form(word), word)) if _CASING.fullmatch(word) else None


def is_ordinary(phrase: str) -> bool:
    """Tell whether a dictionary of English has all words of a phrase."""
    return all(word in _dictionary() or singular(word) in _dictionary() for word in phrase.lower().split())


@cache
def _dictionary() -> frozenset[str]:
    content = (resources.files("symspellpy") / "frequency_dictionary_en_82_765.txt").read_text("utf-8-sig")
    return frozenset(content.split()[::2])  # each word is before its frequency


def _is_coined(name: str, text: str) -> bool:
    """Tell whether a name has an unusual word, is repeated, and is not defined in the text.

    Two uses are enough after "a", "no" and the like, which products do not have: "the Postgres".
    """
    if is_ordinary(name):
        return False
    form = r"\s+".join(map(re.escape, name.split())) + "s?"
    verbs = "(?:is|are) (?:an?|the)|means?|refers? to|denotes?|stands? for"
    defined = rf"\b{form}\b[*`\"”]* (?:{verbs})\b|^[\s|*+-]*\b{form}\b[*`]*[ \t]*[:|—–]"
    uses = re.findall(rf"(\b(?:{_ARTICLES.replace(' ', '|')})\s+)?\b{form}\b", text, re.IGNORECASE)
    fewest = OFTEN if {use.strip().lower() for use in uses} <= {"", "the"} else OFTEN - 1
    return len(uses) >= fewest and not re.search(defined, text, re.IGNORECASE | re.MULTILINE)


class _Sign(NamedTuple):
    """A find by its spelling; `start` and `length` count words and marks of the run."""

    source: TermSource
    find: _Find
    start: int
    length: int = 1


class _Reading(NamedTuple):
    """A run of characters without white space."""

    keys: tuple[str, ...]  # the keys of its words and marks
    signs: tuple[_Sign, ...]  # the terms that their spelling shows
    nouns: tuple[str, ...]  # the keys of words that are terms if they are frequent


@lru_cache(maxsize=100_000)
def _read(run: str) -> _Reading:
    run = composed(run)
    tokens = tokens_of(run)
    signs = [
        _Sign(*sign, place)
        for place, token in enumerate(tokens)
        if len(token) > 1 and (sign := spelled_as(token)) is not None  # a single letter or mark is not a term
    ]
    for match in _KEBAB.finditer(run) if "-" in run else ():
        word = match[0]
        if not _STOP_WORDS.issuperset(word.split("-")):
            start, length = len(tokens_of(run[: match.start()])), len(tokens_of(word))
            signs.append(_Sign(TermSource.CASING_PATTERN, (normal_form(word), word), start, length))
    nouns = tuple(word_key(token) for token in tokens if _is_noun(token))
    return _Reading(tuple(map(word_key, tokens)), tuple(signs), nouns)


def _is_noun(token: str) -> bool:
    if len(token) < _LEAST_LETTERS or not token[1:].islower() or not token.isalpha():
        return False
    return _NO_NOUNS.isdisjoint((word_key(token), token.lower()))
