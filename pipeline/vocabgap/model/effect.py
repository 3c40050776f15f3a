"""The effect of an authored need: every column of table `effects`, declared once."""

from datetime import datetime
from typing import Annotated

import msgspec

from vocabgap.model.capability import means

GONE, FEWER, NO_CHANGE, MORE, TOO_EARLY = VERDICTS = ("gone", "fewer", "no change", "more", "too early")


class Effect(msgspec.Struct, frozen=True, kw_only=True):
    """The effect of authoring one need; each described field is a column of table `effects`."""

    capability_id: Annotated[str, means("the authored capability")]
    label: Annotated[str, means("its label")]
    entries: Annotated[tuple[str, ...], means("the entries that it was authored as, in order")]
    decided: Annotated[datetime, means("time of the decision")]
    since: Annotated[datetime, means("the decision, or the first use of an entry if that is later")]
    weeks_before: Annotated[float, means("weeks before `since` that are compared, at most the window")]
    weeks_after: Annotated[float, means("weeks since then, up to now or to the next effect of the need")]
    mentions_before: Annotated[int, means("mentions in the weeks before")]
    mentions_after: Annotated[int, means("mentions in the weeks after")]
    expected: Annotated[float | None, means("mentions expected after without an effect; null if unknown")]
    ratio: Annotated[float | None, means("events after divided by the expected ones; null if unknown")]
    ratio_low: Annotated[float | None, means("lower end of the 90 % interval of the ratio")]
    ratio_high: Annotated[float | None, means("upper end of the 90 % interval of the ratio")]
    verdict: Annotated[str, means("`gone`, `fewer`, `no change`, `more` or `too early`")]
    missing: Annotated[str | None, means("what a verdict needs, if it is too early; else null")]
    used_since: Annotated[int, means("mentions since the decision that used an entry, and calls of one")]
    rating_before: Annotated[float | None, means("mean satisfaction before, -1 to 1; null if not rated")]
    rating_after: Annotated[float | None, means("mean satisfaction after, -1 to 1; null if not rated")]
    came_back: Annotated[datetime | None, means("end of the week in which it came back; null if it did not")]
    decision_id: Annotated[str, means("its first decision")]
