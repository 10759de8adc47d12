"""The command line: tenfold select, demo, predict, inspect."""
