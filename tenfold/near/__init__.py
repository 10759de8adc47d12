"""Neighbours: the rows that are nearest."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "NeighborIndex": "index",
}
