"""Somebody with a browser that runs nothing: it keeps the cookie, fills in forms, and reads what stands on a
page."""

import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

from tests.apps.roles.http.scraping import World
from tests.web.conftest import Answer, Api
from thresher.admin import admins
from thresher.admin.settings import set_setting
from thresher.web.auth import NAME
from thresher.web.pages.form import KIND
from thresher.web.refresh import refresh

GOOD = "correct horse battery"
# Whatever a template is made of. A name, a reason or a message can add nothing to it.
OURS = frozenset(
    {
        "a",
        "b",
        "bdi",
        "body",
        "button",
        "caption",
        "circle",
        "code",
        "datalist",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "head",
        "header",
        "html",
        "img",
        "input",
        "label",
        "legend",
        "li",
        "link",
        "main",
        "mark",
        "meta",
        "nav",
        "option",
        "p",
        "path",
        "polygon",
        "polyline",
        "pre",
        "progress",
        "q",
        "rect",
        "script",
        "section",
        "select",
        "small",
        "span",
        "summary",
        "svg",
        "table",
        "tbody",
        "td",
        "text",
        "textarea",
        "th",
        "thead",
        "time",
        "title",
        "tr",
        "ul",
        "wbr",
    }
)


@dataclass(frozen=True)
class Visitor:
    """`cookie` is what the browser holds."""

    url: str
    cookie: str | None = None

    def ask(self, method: str, path: str, headers: dict[str, str] | None = None, **how: Any) -> Answer:
        held = {"Cookie": f"{NAME}={self.cookie}"} if self.cookie else {}
        return Api(self.url).ask(method, path, headers=held | (headers or {}), **how)

    def see(self, path: str, status: int = 200, images: int = 1) -> str:
        """The text of a page, which must be one of ours through and through."""
        return page(self.ask("GET", path), status, images)

    def send(self, path: str, headers: dict[str, str] | None = None, **fields: Any) -> Answer:
        """A form exactly as given."""
        body = urlencode(fields, doseq=True)
        return self.ask("POST", path, {"Content-Type": KIND} | (headers or {}), data=body.encode())

    def post(self, path: str, **fields: Any) -> Answer:
        """A form of our own page, with what that page would send along."""
        return self.send(path, csrf=self.csrf, **fields)

    @property
    def csrf(self) -> str:
        found = re.search(r'name="csrf" value="([0-9a-f]{64})"', self.see("/keys"))
        assert found
        return found[1]

    def log_in(self, name: str = "anna", password: str = GOOD, **more: str) -> "Visitor":
        told = self.send("/login", name=name, password=password, **more)
        assert told.status == 303, told.body
        return replace(self, cookie=cookie_of(told))


def cookie_of(told: Answer) -> str:
    return told.headers["Set-Cookie"].partition("; ")[0].removeprefix(f"{NAME}=")


def page(told: Answer, status: int = 200, images: int = 1) -> str:
    """A page of this status, checked: nothing in it runs, and nothing of it comes from elsewhere. Our sign is
    its one image.
    """
    assert (told.status, told.headers["Content-Type"]) == (status, "text/html; charset=utf-8"), told.body
    text = told.body.decode()
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert set(reader.tags) <= OURS, set(reader.tags) - OURS
    assert reader.wrong == []
    assert reader.tags.count("script") <= 1
    assert reader.tags.count("img") == images
    return text


@dataclass
class Reader(HTMLParser):
    """What a page is made of. `wrong`: attributes that would run something, and addresses that lead away,
    but for links to other pages that say so."""

    tags: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "script" and not re.fullmatch(r"/live\.js\?v=[0-9a-f]{12}", dict(attrs).get("src") or ""):
            self.wrong.append(f"a script that is not ours: {attrs}")
        for name, value in attrs:
            leads = name in ("href", "src", "action", "formaction") and not re.match(
                r"[/#](?!/)", value or ""
            )
            if leads and (tag, name) == ("a", "href") and dict(attrs).get("rel") == "noopener noreferrer":
                leads = not re.match(r"https?://", value or "")
            if leads or name.startswith("on") or name in ("style", "srcdoc", "http-equiv"):
                self.wrong.append(f"{tag} {name}={value}")


def with_anna(world: World, name: str = "anna") -> Visitor:
    """A visitor to a world where passwords cost little and anna is an administrator."""
    set_setting(world.store, "web.password_cost", "10", "test")
    set_setting(world.store, "web.login_rate", "1000", "test")
    set_setting(world.store, "web.login_address_rate", "1000", "test")
    refresh(world.shop)
    admins.create_admin(world.store, name, GOOD)
    return Visitor(world.url)
