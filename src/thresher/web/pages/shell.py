"""What all pages have in common: the templates, how a value is written into them, and the headers that keep
strangers out.

Whatever comes from a database is text: the templates escape it, and the browser is told to run nothing but
our one script, and to load nothing from elsewhere. So a name that somebody gave a role stays a name.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
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

from thresher.admin.costs import dollars
from thresher.admin.gates import at_most
from thresher.admin.keys import READ
from thresher.core.answer import DOLLAR
from thresher.core.clock import FOREVER, SystemClock, as_text, relative, span
from thresher.core.errors import ConfigError

HERE = Path(__file__).parent
HEADERS: Mapping[str, str] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
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
_PARTS = re.compile(r"(?<=[./:_?&=-])(?=\w)|(?<=[a-z])(?=[A-Z])")
_CLOCK = SystemClock()  # how long ago something was is told by the clock of whoever shows it
_APPS: dict[str, BaseLoader] = {}


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """One entry of the navigation, in a section: that of an app, or one of ours. `scope` is what its page
    needs.
    """

    title: str
    path: str
    section: str = ""
    scope: str = READ

    def holds(self, path: str) -> bool:
        """Tell whether a page belongs to this entry."""
        return path == self.path or path.startswith(f"{self.path}/")


@dataclass(frozen=True, slots=True)
class NavigationSection:
    """The entries under one heading. The heading leads to the first of them."""

    title: str
    entries: tuple[NavigationEntry, ...]
    is_current: bool

    @property
    def path(self) -> str:
        return self.entries[0].path


def sections_of(
    places: Iterable[NavigationEntry], path: str, section: str | None
) -> tuple[NavigationSection, ...]:
    """Group the entries by section, in their order. The current one is that of the page, else of its path."""
    grouped: dict[str, list[NavigationEntry]] = {}
    for place in places:
        grouped.setdefault(place.section, []).append(place)
    if section not in grouped:
        section = next((each.section for each in places if each.holds(path)), None)
    return tuple(
        NavigationSection(title, tuple(entries), title == section) for title, entries in grouped.items()
    )


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
    found.filters |= {
        "time": _time,
        "count": _count,
        "amount": _amount,
        "span": span,
        "said": _said,
        "breakable": _breakable,
        "whole": _whole,
        "sentence": _sentence,
        "at_most": at_most,
        "dollars": dollars,
        "about_dollars": _about_dollars,
    }
    found.tests["web_address"] = _is_web_address
    found.globals |= {
        "version": version("thresher"),
        "style": f"/style.css?v={mark('style.css')}",
        "script": f"/live.js?v={mark('live.js')}",
    }
    return found


def _is_web_address(text: str | None) -> bool:
    """Tell whether a link may lead to this: to a page, and to nothing that would run."""
    return (text or "").startswith(("https://", "http://"))


def mark(name: str) -> str:
    """Return a short hash of a file's content. A changed file has another URL, so that no browser uses an
    old one.
    """
    return hashlib.sha256((HERE / name).read_bytes()).hexdigest()[:12]


def _time(at: int | None, otherwise: str = "–") -> str | Markup:
    """Say how long ago a time is, with the time itself in UTC beside it; the script writes it in the reader's
    zone.
    """
    if at is None:
        return otherwise
    text = as_text(at) or ""
    if at >= FOREVER:
        return text
    absolute = f"{text[:10]} {text[11:19]} UTC"
    return Markup('<time datetime="{}Z" title="{}">{}</time>').format(
        text[:19], absolute, relative(at, _CLOCK.now())
    )


def _about_dollars(amount: int) -> str:
    """Write an amount to the cent, for a place that has no room for more."""
    return "under $0.01" if 0 < amount < DOLLAR // 100 else f"${amount / DOLLAR:,.2f}"


def _amount(value: float) -> str:
    """Write the value of a setting in full, without a decimal part that says nothing."""
    return f"{value:,}".removesuffix(".0")


def _count(number: int) -> str:
    return f"{number:,}"


def _whole(text: str) -> Markup:
    """Show untrusted text with its spaces and lines, isolated like any other; for a block that keeps them."""
    return Markup("<bdi>{}</bdi>").format(text)


def _said(text: str | None, most: int = MAX_SHOWN) -> Markup:
    """Show the beginning of untrusted text, isolated so that its writing direction does not affect
    the rest.
    """
    line = " ".join((text or "").split())
    return Markup("<bdi>{}</bdi>").format(line if len(line) <= most else f"{line[: most - 1]}…")


def _breakable(text: str | None, most: int = MAX_SHOWN) -> Markup:
    """Show a name or an address as `said` does, which may go on in the next line where its parts meet."""
    line = " ".join((text or "").split())
    parts = _PARTS.split(line if len(line) <= most else f"{line[: most - 1]}…")
    return Markup("<bdi>{}</bdi>").format(Markup("<wbr>").join(parts))


def _sentence(text: str) -> str:
    """Add a full stop to an error message."""
    return f"{text.rstrip('.')}."
