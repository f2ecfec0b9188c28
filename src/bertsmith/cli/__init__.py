"""The command line: one file a verb; nothing but arguments and calls."""
