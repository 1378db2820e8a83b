"""The walk over a company's site: the home page, the pages that it names, and a few usual addresses. Pages
that do not exist are normal.
"""

from dataclasses import dataclass, field

from thresher.core.context import Context
from thresher.core.errors import Blocked, Permanent, TaskError, Transient, Unauthorized
from thresher.core.page import Page
from thresher.hiring.company.pages import CAREERS, HOME, ORDER, candidates, named
from thresher.reading.html.document import Document

MAX_BODY = 2_000_000  # bytes of one page that are read


@dataclass(slots=True)
class Visit:
    """The pages that came, by what they were read for; where the openings are said to be; and what stood in
    the way.
    """

    pages: list[tuple[str, Page]] = field(default_factory=list)
    careers: str | None = None
    trouble: str = ""
    left: int = 0
    seen: set[str] = field(default_factory=set)


async def visit(ctx: Context, website: str) -> Visit:
    """Read a site. What asks for patience passes; a page that is not there is left out."""
    found = Visit(left=int(ctx.setting("jobs.company.pages")))
    names: dict[str, str] = {}
    if home := await _page(ctx, found, HOME, website):
        names = await ctx.compute(_named, home)
    tried: set[str] = set()
    # A page about the company may name what the home page does not, so each role is looked up when its turn
    # has come.
    for role in ("about", CAREERS, "culture", "mission"):
        for each, urls in candidates(website, names):
            if each == role and role not in tried:
                tried.add(role)
                page = await _first(ctx, found, role, urls)
                if page is not None and role == "about":
                    names = {**await ctx.compute(_named, page), **names}
    found.careers = names.get(CAREERS)
    found.pages.sort(key=lambda each: ORDER.index(each[0]))
    return found


async def _first(ctx: Context, found: Visit, role: str, urls: tuple[str, ...]) -> Page | None:
    for url in urls:
        if page := await _page(ctx, found, role, url):
            return page
    return None


async def _page(ctx: Context, found: Visit, role: str, url: str) -> Page | None:
    """One page, unless it is not there, or is one that we have under another name."""
    if found.left <= 0 or url in found.seen:
        return None
    found.left -= 1
    found.seen.add(url)
    try:
        page = await ctx.fetch(url, render=None, max_age=float(ctx.setting("jobs.company.page_age")))
    except (Permanent, Blocked, Unauthorized, Transient) as problem:
        if _matters(problem, role, ctx.task.failures):
            raise
        found.trouble = found.trouble or f"{type(problem).__name__}: {problem}"
        return None
    if page.final_url in found.seen - {url} or not page.body.strip():
        return None
    found.seen.add(page.final_url)
    found.pages.append((role, page))
    return page


def _matters(problem: TaskError, role: str, failures: int) -> bool:
    """Whether the whole walk has to wait. A page that is not there never matters; trouble does on the home
    page, and elsewhere once.
    """
    if isinstance(problem, Permanent):
        return False
    return role == HOME or (isinstance(problem, Transient) and not failures)


def _named(page: Page) -> dict[str, str]:
    return named(Document.of(Page(page.url, page.final_url, page.status, page.headers, page.body[:MAX_BODY])))
