"""What all pages have in common: the templates, how a value is written into them, and the headers that keep
strangers out.

Whatever comes from a database is text: the templates escape it, and the browser is told to run nothing and to
load nothing from elsewhere. So a name that somebody gave a role stays a name.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PackageLoader,
    PrefixLoader,
    StrictUndefined,
)
from markupsafe import Markup

from thresher.core.clock import FOREVER, as_text, span
from thresher.core.errors import ConfigError

HERE = Path(__file__).parent
HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # Not no-referrer: with that a browser sends "Origin: null" with our own forms, and they could not be told
    # from foreign ones.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
MAX_SHOWN = 300
_APPS: dict[str, BaseLoader] = {}


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """One entry of the navigation."""

    title: str
    path: str

    def holds(self, path: str) -> bool:
        """Tell whether a page belongs to this entry."""
        return path == self.path or path.startswith(f"{self.path}/")


def rendered(template: str, **values: Any) -> str:
    """Render a template with these values."""
    return _templates().get_template(template).render(**values)


def use_templates(folders: Mapping[str, str]) -> None:
    """Register the template folders of apps (`package:folder`), each under the name of its app."""
    for app, place in folders.items():
        package, _, folder = place.partition(":")
        try:
            _APPS[app] = PackageLoader(package, folder)
        except (ImportError, ValueError) as problem:
            raise ConfigError(
                f"templates of app {app!r} is {place!r}, which is not a folder: {problem}"
            ) from None


@cache
def _templates() -> Environment:
    found = Environment(
        loader=ChoiceLoader([FileSystemLoader(HERE / "templates"), PrefixLoader(_APPS)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    found.filters |= {"time": _time, "count": _count, "span": span, "said": _said, "sentence": _sentence}
    found.globals |= {"version": version("thresher"), "style": f"/style.css?v={mark('style.css')}"}
    return found


def mark(name: str) -> str:
    """Return a short hash of a file's content. A changed style sheet has another URL, so that no browser
    shows an old one.
    """
    return hashlib.sha256((HERE / name).read_bytes()).hexdigest()[:12]


def _time(at: int | None, otherwise: str = "–") -> str | Markup:
    """Format a time in UTC, to the second, for people and for machines."""
    if at is None:
        return otherwise
    text = as_text(at) or ""
    if at >= FOREVER:
        return text
    return Markup('<time datetime="{}Z">{} {}</time>').format(text[:19], text[:10], text[11:19])


def _count(number: int) -> str:
    return f"{number:,}"


def _said(text: str | None, most: int = MAX_SHOWN) -> Markup:
    """Show the beginning of untrusted text, isolated so that its writing direction does not affect
    the rest.
    """
    line = " ".join((text or "").split())
    return Markup("<bdi>{}</bdi>").format(line if len(line) <= most else f"{line[: most - 1]}…")


def _sentence(text: str) -> str:
    """Add a full stop to an error message."""
    return f"{text.rstrip('.')}."
