"""vocabgap: from gap logs to what should be authored next.

    import vocabgap as vg

    scan = vg.scan("vocabgap-demo")           # as `vocabgap demo` writes it; .records, .rejects, .summary
    found = vg.cluster(scan.records)          # .wordings, .clusters, .linkage
    ranked = vg.rank(scan.records, found)     # a Polars frame, one row per capability
    vg.report(ranked, out="out", scan=scan)   # the files of a run
    vg.run("vocabgap-demo", out="out")        # all of it

`__init__.pyi` lists the public names and their modules. A name is imported when it is first used, so that
`import vocabgap` is fast.
"""

import re
from functools import cache
from importlib import import_module
from pathlib import Path

from vocabgap.files import text_of

__version__ = "0.1.0"
SCHEMA_VERSION = 1  # version of the published formats: frames, run.json and NDJSON events


@cache
def _homes() -> dict[str, str]:
    stub = Path(__file__).with_suffix(".pyi")
    rooms = {place.stem for place in stub.parent.iterdir()}  # a slice may be missing
    lines = re.findall(r"^from (vocabgap\.(\w+)\S*) import (\w+) as", text_of(stub), re.MULTILINE)
    return {name: home for home, room, name in lines if room in rooms}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return ["__version__", *_homes()]
    if name not in _homes():
        raise AttributeError(f"module 'vocabgap' has no attribute '{name}'")
    home = _homes()[name]
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))  # type: ignore[call-overload]
