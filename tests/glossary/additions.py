"""The additions of the glossary to tests that go over the whole program."""

from slices import Additions

ADDITIONS = Additions(
    files={
        "glossary/team_domain.yaml": "terms:\n  - surface: halo\n    definition: A bright rim\n"
    },
    commands={
        "glossary check": ("--text", "a sky mask", "--no-ask", "--glossary", "glossary"),
        "glossary list": ("--glossary", "glossary"),
        "glossary promote": ("halo", "--glossary", "glossary"),
        "glossary deprecate": ("halo", "--glossary", "glossary"),
    },
    looked_for=frozenset({"glossary resolve", "glossary resume"}),
)
