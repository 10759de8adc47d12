"""Marks of HTML in texts."""

MARKS = r"<[a-zA-Z/!][^<>]{0,500}>|&(?:[a-zA-Z]{2,8}|#\d{1,6});"
