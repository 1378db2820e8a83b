"""Carry out a plan on pages given by hand, as a detection does, without a queue."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace

from thresher.apps.extractions.detection.look import PageLook, look_at, look_at_script
from thresher.apps.extractions.detection.plan import Case, plan
from thresher.apps.extractions.detection.steps import Ask, Asked, Step, Want, Why
from thresher.apps.extractions.model import Entity
from thresher.core.page import Page
from thresher.core.schema import Field, Kind, Schema
from thresher.core.stored import read, written

HOST = "https://a.example"
COURSE = Entity(
    "course",
    Schema(
        "course",
        (
            Field("name", required=True),
            Field("code"),
            Field("credits"),
            Field("level"),
            Field("price", Kind.MONEY),
        ),
    ),
)
Answer = str | bytes | Callable[[str], "str | bytes | None"] | None
MAX_STEPS = 200


class Site:
    """Pages by their address. An address that ends with `*` answers for all that begin so; None is a 404."""

    def __init__(self, pages: Mapping[str, Answer], entity: Entity = COURSE) -> None:
        self.pages, self.entity = dict(pages), entity
        self.asked: list[str] = []

    def get(self, url: str) -> "str | bytes | None":
        begins = [each for each in self.pages if each.endswith("*") and url.startswith(each[:-1])]
        found = self.pages.get(url, self.pages[max(begins, key=len)] if begins else None)
        return found(url) if callable(found) else found

    def look(self, want: Want, root: str) -> PageLook:
        self.asked.append(want.url)
        body = self.get(want.url)
        if body is None:
            return PageLook(want.url, want.url, trouble="answers 404", is_gone=True)
        kind = "application/json" if isinstance(body, bytes) else "text/html; charset=utf-8"
        raw = body if isinstance(body, bytes) else body.encode()
        page = Page(want.url, want.url, 200, {"content-type": kind}, raw)
        seen = look_at_script(page, root) if want.why is Why.SCRIPT else look_at(page, self.entity)
        return read(PageLook, written(replace(seen, asked=want.url)))  # as it comes back from the store


def walked(site: Site, url: str, **how: object) -> Step:
    """The end that the plan comes to."""
    case = Case(url, site.entity, **how)  # type: ignore[arg-type]
    opinions = copy(case.opinions)
    looks: dict[str, PageLook] = {}
    for _ in range(MAX_STEPS):
        step = plan(replace(case, looks=looks, opinions=opinions))
        if isinstance(step, Want):
            looks[step.url] = site.look(step, url)
        elif isinstance(step, Ask):
            opinions[step.key] = Asked(step.about)
        else:
            return step
    raise AssertionError("the plan does not end")


def course(number: int, more: str = "") -> str:
    """A page about one course."""
    return (
        f"<title>Course {number}</title><h1>Course {number}: the art of {number}</h1><dl><dt>Code</dt><dd>C-{number}</dd>"
        f"<dt>Credits</dt><dd>{number % 7}</dd><dt>Level</dt><dd>{'high' if number % 2 else 'low'}</dd></dl>"
        f"<p>{'A long description of what is taught. ' * 12} {number}</p>{more}"
    )


def rows(numbers: range, path: str = "/course/") -> str:
    cards = (
        f'<article><h2><a href="{path}{at}">Course {at}: the art of it</a></h2><p>A few words on course {at}</p></article>'
        for at in numbers
    )
    return f'<div class="list">{"".join(cards)}</div>'


def listing(at: int, total: int, size: int = 10, claims: int | None = None, head: str = "") -> str:
    """A page of a list with numbers below it."""
    last = claims or -(-total // size)
    numbers = sorted({each for each in (1, at - 1, at, at + 1, last) if 1 <= each <= last})
    links = " ".join(
        f"<b>{each}</b>" if each == at else f'<a href="?page={each}">{each}</a>' for each in numbers
    )
    shown = rows(range((at - 1) * size, min(at * size, total)))
    return f"<title>Courses</title>{head}<h1>Courses</h1>{shown}<nav class=pagination>{links}</nav>"


def numbered(total: int, claims: int | None = None, after: str = "none") -> dict[str, Answer]:
    """A site of courses. `after` is what pages behind the last one do: none (404), empty, repeat."""
    last = -(-total // 10)

    def page(url: str) -> str | None:
        at = int(url.partition("page=")[2] or 1)
        if at > last and after == "none":
            return None
        return listing(min(at, last) if after == "repeat" else at, total, claims=claims)

    return {
        f"{HOST}/courses": page,
        f"{HOST}/courses?page=*": page,
        f"{HOST}/course/*": lambda url: course(int(url.rpartition("/")[2])),
    }
