"""`vocabgap corpus`: what several people and machines contribute to one corpus, and withdraw."""

import typer

from vocabgap.cli.corpus_backup_command import export, restore
from vocabgap.cli.corpus_care_command import compact, configure, forget, remove_orphans, status
from vocabgap.cli.corpus_push_command import export_chunks, push

corpus = typer.Typer(
    name="corpus",
    help="Share gap logs: bring them into one corpus, take them out again, hand it on.\n\n"
    "`vocabgap report FOLDER` reports on a corpus as it does on logs.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

corpus.command()(push)
corpus.command()(status)
corpus.command()(forget)
corpus.command()(configure)
corpus.command("remove-orphans")(remove_orphans)
corpus.command()(compact)
corpus.command()(export)
corpus.command()(restore)
corpus.command("export-chunks")(export_chunks)
