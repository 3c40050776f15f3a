"""`vocabgap glossary`: what words mean, and whether that is settled."""

import typer

from vocabgap.cli.glossary_check_command import check, resume
from vocabgap.cli.glossary_conflicts_command import conflicts, resolve
from vocabgap.cli.glossary_terms_command import (
    deprecate,
    import_terms,
    list_terms,
    promote,
    show_term,
    validate,
)

glossary = typer.Typer(
    name="glossary",
    help="Say what words mean, and check that it is settled.\n\n"
    "A glossary is a folder with a file for each scope, `<scope>.yaml`, and the log of what people answered.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
glossary.command("list")(list_terms)
glossary.command("show")(show_term)
glossary.command()(check)
glossary.command()(conflicts)
glossary.command()(resolve)
glossary.command()(resume)
glossary.command()(validate)
glossary.command("import")(import_terms)
glossary.command()(promote)
glossary.command()(deprecate)
