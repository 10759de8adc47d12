"""Learners that keep rows and ask the nearest of them."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC: dict[str, str] = {}
