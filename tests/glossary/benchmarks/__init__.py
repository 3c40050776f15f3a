"""The benchmarks of the glossary: of what it costs, and of how good its findings are."""

COSTS = ("glossary", "linting")
QUALITY = ("contradictions", "linting", "specifications")
