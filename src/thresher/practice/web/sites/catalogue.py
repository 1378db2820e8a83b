"""A catalogue of courses: categories, numbered pages, a page for each course. The kind of site a recipe is
written for.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from html import escape
from types import MappingProxyType

from thresher.practice.web.answer import WebRequest, WebResponse, page, plain, xml
from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.draw import Draw
from thresher.practice.web.prose import document, ld
from thresher.practice.web.window import ListWindow, named, window

PAGE = 12
PER_CATEGORY = 40
CATEGORIES = MappingProxyType(
    {
        "data": ("Statistics", "SQL", "Data Cleaning", "Dashboards", "Forecasting"),
        "design": ("Typography", "Colour", "Service Design", "Sketching", "Wayfinding"),
        "languages": ("Spanish", "German", "Swedish", "Sign Language", "Esperanto"),
        "craft": ("Bookbinding", "Woodturning", "Pottery", "Weaving", "Bicycle Repair"),
        "nature": ("Mushrooms", "Bird Song", "Soil", "Orchards", "Tides"),
        "business": ("Bookkeeping", "Negotiation", "Pricing", "Contracts", "Hiring"),
    }
)
FORMS = (
    "Foundations of {}",
    "{} in Practice",
    "Advanced {}",
    "{} for Beginners",
    "A Week of {}",
    "{}: a Workshop",
    "{} at Work",
    "Teaching {}",
)
LEVELS = ("Beginner", "Intermediate", "Advanced")
TEACHERS = ("A. Moreau", "B. Lindqvist", "C. Okafor", "D. Rossi", "E. Nakamura", "F. Haddad")


@dataclass(frozen=True, slots=True)
class Course:
    """One course. Prices are in cents; a free one costs 0."""

    id: int
    category: str
    title: str
    level: str
    hours: int
    cents: int
    teacher: str
    starts: datetime

    @property
    def path(self) -> str:
        return f"/course/{self.id}-{'-'.join(''.join(c if c.isalnum() else ' ' for c in self.title.lower()).split())}"

    @property
    def price(self) -> str:
        return f"€{self.cents // 100:,}.{self.cents % 100:02d}" if self.cents else "Free"


def site(ask: WebRequest) -> WebResponse:
    """`/catalogue`, `/catalogue/CATEGORY`, both with `?page=N`, and `/course/ID-TITLE`."""
    rows = courses(ask.seed, ask.now)
    match ask.parts:
        case () | ("catalogue",):
            return page(_listing(ask, "All courses", rows))
        case ("catalogue", name) if name in CATEGORIES:
            return page(
                _listing(ask, f"Courses: {name}", tuple(each for each in rows if each.category == name))
            )
        case ("course", name) if row := named(rows, name):
            return page(_detail(ask, row))
        case ("robots.txt",):
            return plain("User-agent: *\nDisallow: /account/\nCrawl-delay: 1\n")
        case ("sitemap.xml",):
            urls = "".join(f"<url><loc>https://{ask.host}{each.path}</loc></url>" for each in rows)
            return xml(f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>')
        case _:
            return page(document("Not found", "<h1>We do not teach that</h1>"), 404)


@lru_cache(16)
def courses(seed: int, now: datetime) -> tuple[Course, ...]:
    """The courses on offer now: some begin to be offered later, some end."""
    return tuple(
        each
        for category in CATEGORIES
        for number in range(PER_CATEGORY)
        if (each := _course(seed, category, number, now)) is not None
    )


def _course(seed: int, category: str, number: int, now: datetime) -> Course | None:
    draw = Draw(seed, "course", category, number)
    offered = DAY_ZERO + timedelta(days=draw.between(-300, 30))
    if not offered <= now < offered + timedelta(days=draw.between(200, 500)):
        return None
    subject, form = draw.pick(CATEGORIES[category]), draw.pick(FORMS)
    cents = 0 if draw.chance(8) else draw.between(4, 140) * 1_000 - draw.pick((0, 100, 5))
    if (now - offered).days > 120 and draw.chance(20):
        cents = cents * 8 // 10
    return Course(
        1_000 + list(CATEGORIES).index(category) * 100 + number,
        category,
        form.format(subject),
        draw.pick(LEVELS),
        draw.between(2, 60),
        cents,
        draw.pick(TEACHERS),
        offered + timedelta(days=draw.between(30, 120)),
    )


def _listing(ask: WebRequest, title: str, rows: tuple[Course, ...]) -> str:
    number = max(1, ask.number("page", 1))
    shown = window(ask, rows, (number - 1) * PAGE, PAGE)
    aside = "".join(f'<li><a href="/catalogue/{name}">{name.title()}</a></li>' for name in CATEGORIES)
    count = f"{shown.total} courses" if shown.total else "0 results. We found no courses for you."
    beside = (
        f'<h2>Recommended for you</h2><div class="grid">{_cards(shown.recommended)}</div>'
        if shown.recommended
        else ""
    )
    body = (
        f'<nav class="categories"><ul>{aside}</ul></nav><main><h1>{escape(title)}</h1><p class="count">{count}</p>'
        f'<div class="grid">{_cards(shown.rows)}</div>{_pager(shown, number)}{beside}</main>'
    )
    pages = -(-shown.total // PAGE)
    head = f'<link rel="next" href="?page={number + 1}">' if number < pages else ""
    return document(title, body, head=head)


def _cards(rows: tuple[Course, ...]) -> str:
    return "\n".join(
        f'<article class="course"><h2><a href="{each.path}">{escape(each.title)}</a></h2>'
        f'<p class="meta">{each.level} · {each.hours} hours</p><p class="price">{each.price}</p></article>'
        for each in rows
    )


def _pager(shown: ListWindow[Course], number: int) -> str:
    pages = -(-shown.total // PAGE)
    if pages < 2:
        return ""
    near = sorted({1, pages, *range(max(1, number - 2), min(pages, number + 2) + 1)})
    links = " ".join(
        f'<a href="?page={each}">{each}</a>' if each != number else f'<span aria-current="page">{each}</span>'
        for each in near
    )
    after = f'<a href="?page={number + 1}">Next ›</a>' if number < pages else ""
    return f'<nav class="pagination" aria-label="Pages">{links} {after}</nav>'


def _detail(ask: WebRequest, course: Course) -> str:
    offer = {
        "@type": "Offer",
        "price": f"{course.cents / 100:.2f}",
        "priceCurrency": "EUR",
        "availability": "https://schema.org/InStock",
    }
    known = {
        "@context": "https://schema.org",
        "@type": "Course",
        "name": course.title,
        "offers": offer,
        "url": f"https://{ask.host}{course.path}",
        "provider": {"@type": "Organization", "name": "Practice Courses"},
    }
    body = (
        '<main><nav class="breadcrumb"><a href="/catalogue">Catalogue</a> › '
        f'<a href="/catalogue/{course.category}">{course.category.title()}</a></nav>'
        f"<h1>{escape(course.title)}</h1><p>Taught by {course.teacher}. {course.level} level, {course.hours} hours, one evening a week.</p>"
        f'<dl><dt>Price</dt><dd class="price">{course.price}</dd><dt>Starts</dt><dd><time datetime="{course.starts:%Y-%m-%d}">'
        f"{course.starts:%d %B %Y}</time></dd><dt>Hours</dt><dd>{course.hours}</dd><dt>Level</dt><dd>{course.level}</dd></dl>"
        "<p>You will work on something of your own, and take it home.</p>"
        "<p>Books for the course are sent free of charge over €50.</p></main>"
    )
    return document(f"{course.title} | Practice Courses", body, head=ld(known))
