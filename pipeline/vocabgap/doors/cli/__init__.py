"""The command line: parses, calls the pipeline or a stage, prints. No logic."""
