"""The command line: `tenfold select FILE --target COLUMN`, `tenfold demo`, `tenfold predict`, `tenfold inspect`."""
