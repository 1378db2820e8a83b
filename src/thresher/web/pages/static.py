"""The two files that every page needs, from this package: nothing is fetched from elsewhere."""

from functools import cache

from starlette.responses import Response

from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.shell import HERE

# The address of the style sheet changes with what it holds.
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}


def style(page_request: PageRequest) -> Response:
    """Serve the style sheet."""
    return Response(
        _file("style.css"),
        headers=_KEPT if page_request.request.query_params.get("v") else None,
        media_type="text/css",
    )


def icon(_: PageRequest) -> Response:
    """Serve the icon."""
    return Response(
        _file("icon.svg"), headers={"Cache-Control": "public, max-age=86400"}, media_type="image/svg+xml"
    )


@cache
def _file(name: str) -> bytes:
    return (HERE / name).read_bytes()


PAGES = (
    DashboardPage("GET", "/style.css", style, asks=frozenset({"v"}), is_open=True),
    DashboardPage("GET", "/icon.svg", icon, is_open=True),
)
