"""The command line: it parses arguments, calls the pipeline or a stage, and prints."""
