"""What to do next about a page, in one or two sentences."""

from thresher.core.page import Verdict
from thresher.reading.inspect.report import Inspection, PageKind
from thresher.reading.platforms.calls import list_call


def advice(seen: Inspection) -> str:
    """The most useful next step."""
    if seen.look.verdict is Verdict.BLOCKED:
        return "Do not try harder: look for the site's feed or API, ask its owner, or wait and go slower."
    if seen.kind is PageKind.SHELL:
        return "Inspect it again with --render, or ask its board's own list." + _board(seen)
    if seen.look.verdict is Verdict.CONFIRMED_EMPTY:
        return "Nothing to do: the source itself says so. Look again another day."
    if seen.look.verdict is Verdict.UNKNOWN:
        return (
            "Nothing may be concluded from it. Open it in a browser and compare; --json shows the text that was read."
            + _board(seen)
        )
    if seen.next:
        return f"There is more: the next page is {seen.next}"
    return "It can be read." + _board(seen)


def _board(seen: Inspection) -> str:
    call = list_call(seen.board) if seen.board and seen.kind is not PageKind.BOARD else None
    if call is None:
        return ""
    return f" The list of postings is {'at' if call.method == 'GET' else f'had by a {call.method} to'} {call.url}"
