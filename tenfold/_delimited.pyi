from typing import Any

def read(
    text: bytes | memoryview,
    separator: str,
    quote: str,
    kinds: list[str],
    words: list[str],
    most_levels: int,
) -> tuple[int, list[tuple[Any, int, Any] | None]] | None: ...
