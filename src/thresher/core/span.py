"""Durations as people read them, the same on the command line and in the browser."""

_STEPS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def span(seconds: float) -> str:
    """A duration: 340ms, 12s, 3m 20s, 2h 5m, 4d."""
    if seconds < 1:
        return f"{seconds * 1_000:.0f}ms"
    left, parts = round(seconds), []
    for size, unit in _STEPS:
        if left >= size:
            parts.append(f"{left // size}{unit}")
            left %= size
    return " ".join(parts[:2])
