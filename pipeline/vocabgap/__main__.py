"""The console script, and `python -m vocabgap`.

Loading the command line takes some tenths of a second. A signal waits until that is done, because a module
that is interrupted half-way cannot report the signal.
"""

from vocabgap.files.signals import hold


def main() -> None:
    """Load the command line, and run it."""
    hold()
    from vocabgap.doors.cli.app import main as command_line  # noqa: PLC0415 - what takes the time

    command_line()


if __name__ == "__main__":
    main()
