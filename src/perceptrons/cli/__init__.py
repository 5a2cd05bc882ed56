"""The command line: thin, one file a verb."""
