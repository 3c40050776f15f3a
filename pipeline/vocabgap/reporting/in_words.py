"""What the numbers of a capability mean, in words."""

from typing import Final

from vocabgap.reporting.capability import Capability
from vocabgap.text import count

_BARS: Final = "▁▂▃▄▅▆▇█"
_RECENT: Final = 3  # the last third of the weeks is what a trend compares with all of them


def satisfaction(capability: Capability) -> str:
    """How the workarounds were rated."""
    if not capability.rated:
        return "not rated"
    share = f"{capability.unsatisfied} of {capability.rated} unsatisfied"
    return share if not capability.unrated else f"{share}, {capability.unrated} not rated"


def interval(capability: Capability) -> str:
    """The 90 % interval of the rank."""
    low, high = capability.rank_low, capability.rank_high
    return f"{low}" if low == high else f"{low}–{high}"


def trend(capability: Capability) -> str:
    """Which way it goes, with the mentions that say so."""
    if capability.trend is None:
        return "no date can be read"
    weeks = len(capability.weekly)
    recent = weeks // _RECENT
    told = f"{sum(capability.weekly[-recent:])} in the last {count(recent, 'week')}"
    return f"{capability.trend}: {count(sum(capability.weekly), 'mention')} in {count(weeks, 'week')}, {told}"


def sparkline(weekly: tuple[int, ...]) -> str:
    """Mentions a week as a row of bars, the newest last; a week without any is the lowest."""
    most = max(weekly, default=0)
    return "".join(_BARS[-(-number * (len(_BARS) - 1) // most)] if most else _BARS[0] for number in weekly)


def factors(capability: Capability) -> str:
    """What the priority is made of."""
    parts = (("reach", capability.reach), ("need", capability.need), ("recency", capability.recency))
    return f"{capability.priority:.2f} (" + ", ".join(f"{name} {value:.2f}" for name, value in parts) + ")"


def place_of(capability: Capability, others: tuple[Capability, ...], ranked_by: str) -> str:
    """By how much the first one leads, and how sure that is; its like stand in its tie group."""
    sentences = []
    behind = next((each for each in others if each.rank > capability.rank), None)
    value = getattr(capability, ranked_by)
    if behind is not None and isinstance(value, int):
        lead = value - getattr(behind, ranked_by)
        sentences.append(f"It leads by {lead:,} {ranked_by}" if lead else f"By {ranked_by} the next is level")
    tied = [each.rank for each in others if each.tie_group == capability.tie_group]
    span = interval(capability)
    if len(tied) > 1:
        sentences.append(f"its 90 % interval is rank {span}, and ranks {tied[0]} to {tied[-1]} are a tie")
    else:
        sentences.append(f"its rank is {span} with 90 % confidence")
    told = "; ".join(sentences)
    return f"{told[0].upper()}{told[1:]}."


def changes(kinds: dict[str, int]) -> str:
    """What became of the capabilities since the run before."""
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number) or "nothing changed"
