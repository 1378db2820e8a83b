"""The three files that every page needs, from this package: nothing is fetched from elsewhere."""

from functools import cache

from starlette.responses import Response

from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.shell import HERE

# The addresses of the style sheet and the script change with what they hold.
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}


def style(page_request: PageRequest) -> Response:
    """Serve the style sheet."""
    return _sent(page_request, "style.css", "text/css")


def script(page_request: PageRequest) -> Response:
    """Serve the script that keeps pages up to date."""
    return _sent(page_request, "live.js", "text/javascript")


def _sent(page_request: PageRequest, name: str, media_type: str) -> Response:
    kept = _KEPT if page_request.request.query_params.get("v") else None
    return Response(_file(name), headers=kept, media_type=media_type)


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
    DashboardPage("GET", "/live.js", script, asks=frozenset({"v"}), is_open=True),
    DashboardPage("GET", "/icon.svg", icon, is_open=True),
)
