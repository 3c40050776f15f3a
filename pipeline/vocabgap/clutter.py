"""Clutter around a need: markup, links, emoji, ticket numbers, stack traces, mail footers, template headings.

Clutter is removed before wordings are compared and labels are made. Records and wordings keep it.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from html import unescape
from typing import Final

_I: Final = re.IGNORECASE
_M: Final = re.MULTILINE

# Markup. Only known tags with a closing tag are clutter: "support the <b> tag" is a need.
_BLOCKS: Final = "p|div|li|ul|ol|h[1-6]|tr|td|th|table|tbody|thead|blockquote|details|summary|pre|section"
_INLINE: Final = "a|b|i|u|s|em|strong|span|code|sub|sup|small|font|del|ins|kbd|mark|center|html|body"
_CLOSED: Final = re.compile(rf"</({_BLOCKS}|{_INLINE})\s*>", _I)
_COMMENT: Final = re.compile(r"^[ \t]*<!--.{0,999}?-->", re.DOTALL | _M)
_BREAK: Final = re.compile(r"<(?:br|hr)\s*/?>(?! (?:tags?|elements?)\b)|<img\s[^<>]*>", _I)
_ENTITY: Final = re.compile(r"&(?:#\d{1,6}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d{0,2});", _I)
_MARKDOWN: Final = (
    (re.compile(r"!\[[^\[\]\n]{0,300}\]\([^()\n]*\)|\[[A-Z]{2,10}-\d{1,7}\]\([^()\s]*\)"), ""),
    (re.compile(r"\[([^\[\]\n]{1,300})\]\((?:https?:|mailto:|/|#|\.)[^()\s]*(?: \"[^\"\n]*\")?\)"), r"\1"),
    (re.compile(r"<(?:https?://|mailto:)[^\s<>|]+\|([^<>\n]+)>"), r"\1"),  # of a chat
    (re.compile(r"(\*\*|~~|(?<!\w)__(?=\S+ ))(?=\S)([^\n]{1,300}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]{1,200})(?<=\S)\*(?![\w*])"), r"\1"),
    (re.compile(r"^ {0,3}(?:#{1,6} +|>+ ?|[-*+] +(?=\S))", _M), ""),
    (re.compile(r"^[ \t]*(?:(?:```|~~~)[\w+-]*|[*_=-]{3,})[ \t]*$", _M), ""),
)
_ADDRESS: Final = re.compile(
    r"<?\b(?:https?://|www\.)[^\s<>\"]*[^\s<>\".,;:!?()\[\]'»]>?/?|(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"
)
_EMOJI: Final = "\U0001f000-\U0001faff\u2600-\u266c\u2670-\u27bf\u2b50\u2b55"
_EMOJIS: Final = re.compile(rf"[{_EMOJI}][{_EMOJI}\ufe0e\ufe0f\u200d\u20e3]*")
_SHORTCODE: Final = re.compile(r"(?<![\w:]):(?!memory:)(?:[a-z][a-z0-9_+-]{1,30}|\+1|-1|100):(?![\w:`])")

# Numbers of tickets. UTF-8, ISO-8601 and GPT-4 are names of standards and products.
_STANDARDS: Final = (
    "UTF|ISO|SHA|RFC|GPT|ES|IEEE|MD|AES|CVE|CWE|BCP|WCAG|EN|DIN|COVID|LATIN|CP|HTTP|TLS|SSL|MP|USB|RS|ARM|ECMA"
    "|ANSI|NIST|BASE|FP|INT|UINT|FLOAT|PEP|ADR|RAL|IPV|PDF|WINDOWS|CUDA|EUC|KOI|AP|FIPS|H|X"
)
_KEY: Final = rf"(?!(?:{_STANDARDS})-)[A-Z][A-Z0-9]{{1,9}}-\d{{1,7}}"
_TICKET: Final = re.compile(
    rf"^[ \t]*(?:{_KEY}|#\d{{1,7}}) ?[:|–—-]+\s+|^[ \t]*\[{_KEY}\]:?\s+"
    rf"| ?[(\[](?:{_KEY}|(?:#|GH-|gh-)\d{{1,7}})[)\]]"
    r"|\b(?i:fix(?:es)?|close[sd]?|resolve[sd]?|see|refs?|issue|ticket|bug)(?::? )#\d{1,7}\b:?"
    r"|^[ \t]*(?i:ticket|issue|bug|case|request) ?(?:no\. ?|nr\. ?|#)?\d{1,7}\s*[:–—-]+\s+"
    rf"|\s(?!(?:{_STANDARDS})-)[A-Z]{{2,10}}-\d{{3,7}}\s*$|^(?!(?:{_STANDARDS})-)[A-Z]{{3,10}}-\d{{4,7}} ",
    _M,
)

# Frames of stack traces, of Python, the JVM, .NET, JavaScript, Go, Rust, Ruby and PHP.
_TRACE_WORDS: Final = ("Traceback", "goroutine ", "panicked at", "Stack trace:", ".rb:")
_FRAME: Final = re.compile(
    r"Traceback \(most recent call last\):"
    r"|^[ \t]*File \"[^\"\n]+\", line \d+(?:, in [^\n]*)?(?:\n(?![ \t]*File \")[ \t]{3,}\S[^\n]*){0,3}"
    r"|^(?:During handling of the above exception|The above exception was the direct cause)[^\n]*"
    r"|\s+at (?:async |new )?[\w$.<>/`@\[\]-]{1,300}\.[\w$<>`\[\]]{1,99}\([^()\n]*\)(?: in [^\n]*?:line \d+)?"
    r"(?: ~?\[[^\]\n]*\])?"
    r"|\s+at [^\n()]{1,120} \([^()\n]*:\d+(?::\d+)?\)|\s+at (?:async )?[^\s()]{1,300}:\d+:\d+\b"
    r"|\s+at async [^\n()]{1,120} \(index \d+\)"
    r"|\s+\.\.\. \d+ (?:more|common frames omitted)|^\s*--- End of [^\n]*---"
    r"|^goroutine \d+ \[[^\]\n]*\]:|^[\w./*()-]+\([^()\n]*\)\n\s+\S+\.go:\d+[^\n]*"
    r"|^created by [^\n]+(?:\n\s+\S+\.go:\d+[^\n]*)?|^exit status \d+|^\[signal [^\]\n]*\]"
    r"|^note: (?:run with|Some details are omitted)[^\n]*|^stack backtrace:|^\s+\d+: [\w<>:$ ,&*{}.#-]+$"
    r"|^\s*from \S+:\d+:in [^\n]*|^Stack trace:|^#\d+ (?:\S+\(\d+\):|\{main\})[^\n]*"
    r"|^\s*thrown in \S+ on line \d+| in \S+\.php(?::\d+| on line \d+)",
    _M,
)
_FLAT_TRACE: Final = re.compile(r"Traceback \(most recent call last\):.*\s(?=(?:\w+\.)*[A-Z]\w*: )")
_THREAD: Final = re.compile(
    r"thread '[^'\n]*' (?:\(\d+\) )?panicked at (?:'([^\n]*)', \S+:\d+:\d+|\S+:\d+:\d+:\s*)", _I
)
_EXCEPTION: Final = re.compile(
    r"^\s*(?:Exception in thread \"[^\"\n]*\" |Caused by: |Suppressed: |---> |panic: "
    r"|Uncaught (?:\(in promise\) )?|\S+\.rb:\d+:in [^:\n]{1,80}: "
    r"|Unhandled exception\. |(?:PHP )?Fatal error: +)*(?:[\w$]+(?:\.|::?|\\))*"
    r"(?:(?:[A-Z]\w*)?(?:Error|Exception|Fault|Failure|Exit|Warning)(?: \[\w+\])?: *"
    r"|(?<=panic: )|(?<=Uncaught )|(?<=['`]: ))"
)

# Footers of mail programs, at the end of a line.
_DEVICE: Final = (
    r"(?:iPhone|iPad|Android|Galaxy|Samsung|Huawei|Xiaomi|Pixel|BlackBerry|Outlook|Yahoo|Gmail|Proton"
    r"|Thunderbird|Mail|Mobil\w*|mobile|Handy|Smartphone|[Pp]hone|téléphone|portable|móvil|celular|teléfono|telefon\w*"
    r"|cellulare|device|tablet|айфон\w*|телефон\w*|устройств\w*)"
)
_SENT: Final = (
    "Sent from ", "Sent with ", "Sent via ", "Sent using ", "Von mein", "Gesendet von ", "Gesendet mit ",
    "Gesendet über ", "Gesendet aus ", "Diese Nachricht wurde von ", "Envoyé de ", "Envoyé depuis ",
    "Envoyé à partir de ", "Envoyé avec ", "Enviado desde ", "Enviado de ", "Enviado do ", "Enviado con ",
    "Inviato da ", "Inviato dal ", "Verstuurd vanaf ", "Verzonden vanaf ", "Skickat från ", "Sendt fra ",
    "Отправлено с ",
)  # fmt: skip
_FOOTER: Final = re.compile(
    rf"(?:(?:^|[\s.,;!?|–—-])(?:{'|'.join(_SENT)}|Get (?=Outlook))|(?:^|[–—-]+ ?)(?i:sent from my ))"
    rf"[^\n]{{0,30}}?{_DEVICE}"
    r"(?:['’]?\w{0,3})(?: (?:i?[A-Z0-9][\w.+-]*|for|für|pour|para|per|voor|with|mit|gesendet|versendet"
    r"|verschickt|geschickt|device|phone|smartphone|mobile|on|auf|app)){0,4}[.!]?[ \t]*$"
    r"|(?:iPhone|iPad|Android)から送信\s*$"
    r"|(?:发自我的|從我的) ?(?:iPhone|iPad|Android|手机|手機)[^\n]{0,10}$",
    _M,
)
_SENT_WORDS: Final = re.compile(
    "|".join((*_SENT, "Get Outlook", "iPhone", "iPad", "Android", "手机", "手機"))
)
_SIGNATURE: Final = re.compile(
    r"\n-- ?\n(?:[^\n]*\n){0,5}[^\n]*$"
    r"|\n(?:On|Am|Le|El|Il|Em|Op) [^\n]{5,120}(?:wrote|schrieb|écrit|escribió|scritto|escreveu|schreef)"
    r"[^\n]{0,40}:.*"
    r"|\n[ \t]*(?i:(?:best|kind|warm) regards|regards|best wishes|cheers|sincerely|thanks|many thanks"
    r"|thank you"
    r"|mit (?:freundlichen|besten|lieben) grüßen|viele grüße|beste grüße|lg|vg|cordialement"
    r"|bien à vous|saludos(?: cordiales)?|un saludo|atentamente|cordiali saluti|saluti|atenciosamente|abraços"
    r"|met vriendelijke groet(?:en)?|groeten|med vänlig(?:a)? hälsning(?:ar)?|hälsningar|с уважением"
    r"|pozdrawiam|с уважение),?[!.]?[ \t]*(?:\n[^\n]{0,60}){0,4}\s*$",
    re.DOTALL,
)
_GREETING: Final = re.compile(
    r"^\s*(?:hi|hello|hey|dear|hallo|liebes?|guten tag|bonjour|salut|hola|ciao|buongiorno|olá|hej|привет)"
    r"(?: [\w.]+){0,3}[,!]\s*\n",
    _I,
)
# Headings and prompts of issue templates, with or without markup.
_HEADING: Final = re.compile(
    r"^[ \t#*_>]*(?:(?:is your )?feature request (?:is )?related to a problem\b[^\n]{0,40}"
    r"|describe (?:the (?:solution|bug|feature|problem|issue|use case)|any|alternatives|your)\b[^\n]{0,60}"
    r"|(?:steps )?to reproduce|expected behaviou?r"
    r"|(?:actual|current) behaviou?r|additional (?:context|information)|screenshots?|environment|motivation"
    r"|proposal|proposed solution|alternatives(?: considered)?|use case|summary|description"
    r"|problem(?: statement)?|what (?:would you like|happened|is the problem|do you want)[^\n]{0,60}"
    r"|why (?:is this|do you)[^\n]{0,60}|checklist|prerequisites|user story|acceptance criteria"
    r"|a clear and concise description of[^\n]{0,80}"
    r"|this (?:e-?mail|message)\b[^\n]{0,80}\b(?:confidential|intended)\b[^\n]*"
    r"|i'm always frustrated when \[\.*\]|_?no response_?)[?.: \t]*(?:(?:please describe\.?|[*_])[*_: \t]*)?$"
    r"|^\s*[-*] \[[ xX]\] (?:i|i've|i'm|yes|no|this)\b[^\n]*$",
    _I | _M,
)
# Without any of these signs, a text has no clutter but a footer.
_CLUTTERED: Final = re.compile(rf"[<&*~`@\n#:\[{_EMOJI}]|-\d|__|www\.|^[-+>]")


# A long paste is cut: to its first 20,000 characters; a stack trace to the first and the last 10,000.
_AT_EITHER_END: Final = 10_000
_LONGEST: Final = 2 * _AT_EITHER_END
_PLAIN: Final = re.compile(rf"[a-z0-9 ,;!?()/'\"%=]{{0,{_LONGEST}}}")  # most wordings; they have no clutter
_LONG_RUN: Final = re.compile(r"[^\S\n]{9,}")
_WIDE_GAP: Final = re.compile(r"\n(?:[^\S\n]{0,8}\n){2,}")


def without_clutter(text: str) -> str:
    """Return a text without its clutter, with its line breaks; the whole text if nothing is left.

    A long text with clutter is cut to its first `_LONGEST` characters; a stack trace loses its middle.
    """
    return text if _PLAIN.fullmatch(text) else _bare(text)


@lru_cache(maxsize=100_000)
def _bare(text: str) -> str:
    whole = text
    if len(text) > _LONGEST:
        text = text[:_AT_EITHER_END]
        text += f"\n{whole[-_AT_EITHER_END:]}" if _may_be_trace(text) else whole[_AT_EITHER_END:_LONGEST]
    is_sent = _SENT_WORDS.search(text) is not None
    if not is_sent and not _CLUTTERED.search(text):
        return whole
    bare = _WIDE_GAP.sub("\n\n", _LONG_RUN.sub(" " * 8, _without_markup(text)))
    if _may_be_trace(bare):
        bare = _without_trace(bare)
    may_be_address = "@" in bare or "://" in bare or "www." in bare
    if may_be_address and (nameless := _ADDRESS.sub(" ", bare)) != bare:
        bare = re.sub(r" ?(?:\( *\)|\[ *\])", "", nameless)
    bare = bare if bare.isascii() else _EMOJIS.sub(" ", bare)
    bare = _SHORTCODE.sub(" ", bare) if ":" in bare else bare
    if is_sent:
        bare = _FOOTER.sub("", bare)
    if "\n" in bare:
        bare = _unless_empty(_SIGNATURE.sub("", _GREETING.sub("", bare)), bare)
        bare = _unless_empty(_HEADING.sub("", bare), bare)
    if any(sign in bare for sign in "#-:"):
        bare = _TICKET.sub(" ", bare)
    for pattern, replacement in _MARKDOWN:
        bare = pattern.sub(replacement, bare)
    return _unless_empty(bare.strip(), whole)


def lines_of(text: str) -> list[str]:
    """Return the stripped lines of a text that are not blank."""
    return [line for line in map(str.strip, text.split("\n")) if line]


def _may_be_trace(text: str) -> bool:
    return any(word in text for word in _TRACE_WORDS) or ("at " in text and (":" in text or "(" in text))


def _unless_empty(shorter: str, text: str) -> str:
    return shorter if any(map(str.isalnum, shorter)) else text


def _without_markup(text: str) -> str:
    if "<" in text:
        text = _BREAK.sub("\n", _COMMENT.sub("", text))
        for name in {name.lower() for name in _CLOSED.findall(text)}:
            between = "\n" if re.fullmatch(_BLOCKS, name) else ""
            text = re.sub(rf"</?{name}(?:\s[^<>]*)?>", between, text, flags=_I)
    text = _ENTITY.sub(lambda entity: unescape(entity[0]), text) if "&" in text else text
    for pattern, replacement in _MARKDOWN[:3] if "](" in text or "|" in text else ():
        text = pattern.sub(replacement, text)
    return text


def _without_trace(text: str) -> str:
    """Return the prose of a text and the message of its last exception, without stack frames."""
    if "\n" not in text:
        text = _FLAT_TRACE.sub("Traceback (most recent call last):\n", text)
    bare = _FRAME.sub("\n", _THREAD.sub(lambda thread: f"panic: {thread[1] or ''}", text))
    if bare == text:
        return text
    lines = lines_of(bare)
    heads = [place for place, line in enumerate(lines) if _EXCEPTION.match(line)]
    messages = {place: lines[place] for place in range(len(lines)) if place not in heads[:-1]}
    for place in heads[-1:]:
        messages[place] = _unless_empty(_EXCEPTION.sub("", lines[place], count=1), lines[place])
    return "\n".join(messages.values())


SHARED_BY: Final = 3  # wordings; the least number that makes a line clutter
_HEADS: Final = ("#", "**", "<h", "<b>", "<strong>")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) +(?=\S)")


def shared_lines(wordings: Iterable[str]) -> frozenset[str]:
    """Return the lines and sentences that several wordings share, unless one of them is a whole wording.

    These are headings, footers and notices. Wordings may share a first line because they ask for the same
    need. So a first line counts only if it looks like a heading, or half of the wordings have it.
    """
    lines, sentences, titles = Counter[str](), Counter[str](), Counter[str]()
    whole, texts = set(), 0
    for wording in wordings:
        texts += 1
        bare = without_clutter(wording)
        if not any(map(bare.__contains__, ("\n", ". ", "! ", "? "))):  # most wordings
            whole.add(bare.strip())
            continue
        first, *others = lines_of(bare) or [""]
        further = {sentence for line in (first, *others) for sentence in _SENTENCE_END.split(line)[1:]}
        if not others and not further:
            whole.add(first)
            continue
        is_heading = first.endswith((":", ",")) or wording.lstrip().lower().startswith(_HEADS)
        lines.update({*others, first} if is_heading else {*others})
        sentences.update(further)
        titles[first] += not is_heading
    found = set()
    for counts, share in ((lines, 0.0), (sentences, 0.02), (titles, 0.5)):
        found |= {line for line, count in counts.items() if count >= max(SHARED_BY, share * texts)}
    return frozenset(found - whole)


def without_lines(text: str, shared: frozenset[str]) -> str:
    """Return a text without shared lines and sentences; the whole text if nothing is left."""
    if not shared:
        return text
    lines = (line for line in lines_of(text) if line not in shared)
    kept = (_SENTENCE_END.split(line) for line in lines)
    parts = (" ".join((first, *(each for each in others if each not in shared))) for first, *others in kept)
    return _unless_empty("\n".join(parts), text)
