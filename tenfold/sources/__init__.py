"""Rows that are not an array in memory: files, streams of blocks, Dask collections and the engine that runs where they live."""
