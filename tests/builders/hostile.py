"""What a terminal or a reader would obey without seeing it."""

import re
import unicodedata
from typing import Final

UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def unseen(text: str) -> set[str]:
    """Gives the characters of a text that a terminal or a reader would obey without seeing them.

    Of joiners and selectors only those that no letter or emoji needs: the lists have few that do.
    """
    found = {each for each in set(text) if unicodedata.category(each) in UNSEEN} - {"\n"}
    return (found - set("\u200c\u200d")) | set(
        re.findall(r"(?=[\u200c\u200d\ufe0f])(?:(?<=[\0-\u04ff])|^)(?:[\u200c\u200d]|\ufe0f(?!\u20e3))", text)
    )
