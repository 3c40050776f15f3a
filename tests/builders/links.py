"""What renderers of Markdown would make links of without being told."""

import re
from itertools import groupby
from typing import Final

from linkify_it import LinkifyIt

from builders.reporting import GITHUB

# As much as it knows, and what others know: hosts under names that are no top-level domain, and any scheme.
_LINKS: Final = LinkifyIt().set({"fuzzy_ip": True})
_LINKS.tlds(["invalid"], keep_old=True)
for _scheme, _like in {"rdar:": "http:", "smb:": "http:", "xmpp:": "mailto:"}.items():
    _LINKS.add(_scheme, _like)
_MENTION: Final = re.compile(r"@\w+|#[0-9]+")


def addresses(text: str) -> list[str]:
    """Gives the addresses and mentions that stand in the rendered text of Markdown, outside its code.

    What a linker is given is the text alone: some of them look at the page that was made, where nothing tells
    what a backslash stood before.
    """
    inlines = [token.children or [] for token in GITHUB.parse(text)]
    runs = [
        "".join(child.content for child in children)
        for inline in inlines
        for is_text, children in groupby(inline, key=lambda child: child.type == "text")
        if is_text
    ]
    found = [match.url for run in runs for match in _LINKS.match(run) or ()]
    found += [mention for run in runs for mention in _MENTION.findall(run)]
    return found + [
        str(child.attrs["href"])
        for inline in inlines
        for child in inline
        if child.type == "link_open"
    ]
