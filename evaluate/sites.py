"""Sites nobody tuned for: the link to a company's openings, the company's name, and the fields of openings
that declare nothing.

The sites are split in two by a hash of their names. Whoever writes a rule looks only at pages of the `learn`
half; the `check` half tells what the rule is worth elsewhere. Every site counts once, however many of its
pages there are. Beside how much of what a page says was read stands how much of what was read is right: a
wrong company is worse than none, and so is one where the page names nobody.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from evaluate.fields import LABELS, field_cases, shown
from evaluate.manifest import HALVES, TODAY, Entry, entries, half, plain, share
from evaluate.score import Score
from thresher.core.page import Page, Via
from thresher.hiring.records import company_name_key
from thresher.reading.html.document import Document
from thresher.reading.inspect.company import careers_url, read_company
from thresher.reading.inspect.inspection import Inspection, inspect
from thresher.reading.structured.facts import Facts
from thresher.reading.values.addresses import registered_domain

UNDECLARED = ("title", "company", "location", "posted", "employment_type", "salary", "description")
_NUMBERED = re.compile(r"^\d+_")
_DECLARED = re.compile(rb"(?i)application/ld\+json|\bitem(?:prop|type|scope)\b")


@dataclass(frozen=True, slots=True)
class Case:
    """`read` is whether there was any answer, right or wrong; `said` whether the page has one to give."""

    site: str
    what: str
    right: bool
    read: bool = True
    said: bool = True

    @property
    def half(self) -> str:
        return half(self.site)


def scores(corpus: Path) -> list[Score]:
    fields = list(_undeclared(corpus))
    chosen = {"all fields": UNDECLARED} | {field: (field,) for field in UNDECLARED}
    return [
        *_halves("link to a company's openings", _careers(corpus)),
        *_halves("name of a company", _names(corpus)),
        *(
            score
            for name, some in chosen.items()
            for score in _recall_and_precision(name, [case for field, case in fields if field in some])
        ),
    ]


def _recall_and_precision(name: str, cases: list[Case]) -> Iterator[Score]:
    yield from _halves(f"undeclared opening, {name}", (case for case in cases if case.said))
    yield from _halves(f"the same, of what was read, {name}", (case for case in cases if case.read))


def _halves(name: str, cases: Iterable[Case]) -> Iterator[Score]:
    found = list(cases)
    for each in HALVES:
        own = [case for case in found if case.half == each]
        sites: dict[str, list[bool]] = defaultdict(list)
        for case in own:
            sites[case.site].append(case.right)
        value = share(sum(share(sum(each), len(each)) for each in sites.values()), len(sites))
        misses = tuple(case.what for case in own if not case.right)
        yield Score("sites", f"{name} ({each})", value, len(sites), misses=misses)


# The link to a company's openings


def company_pages(corpus: Path) -> Iterator[tuple[str, str, Entry]]:
    """Site, address and page of every company page."""
    for entry in entries(corpus, "companies/homepages/", "companies/webstruct/", "companies/ats-"):
        if entry.file.endswith(".html"):
            folder, stem = entry.path.parent.name, _NUMBERED.sub("", entry.path.stem)
            site = folder if "." in folder else _host(stem)
            yield site, entry.truth.get("base") or f"https://{site}/", entry


def _host(stem: str) -> str:
    """The site in the name of a file: `acme.com-some-article`, `acme.de.page`, `acme.ca_107`."""
    host = re.split(r"_\d+$|(?<=\.com)-", stem)[0]
    return registered_domain(host) or ".".join(host.split(".")[:2])


def _careers(corpus: Path) -> Iterator[Case]:
    sites = corpus / "companies/webstruct/sites.csv"
    rows = csv.DictReader(sites.open(encoding="utf-8", newline="")) if sites.exists() else ()
    hrefs = {row["site"]: row["careers_href"] for row in rows}
    for site, base, entry in company_pages(corpus):
        truth = entry.truth
        wanted = truth.get("careers_href") or truth.get("job_board_url") or hrefs.get(site)
        got = careers_url(Document.of(entry.page(base)))
        right = _same(got) == _same(urljoin(base, wanted) if wanted else "")
        yield Case(site, f"{entry.file}: {wanted}, read {got}", right)


def _same(url: str | None) -> str:
    return plain(url).partition("#")[0].partition("://")[2].rstrip("/")


# The name of a company


def _names(corpus: Path) -> Iterator[Case]:
    for site, base, entry in company_pages(corpus):
        annotated = entry.truth.get("annotated", {}).get("ORG", ())
        yield _named(site, entry.page(base), entry.file, annotated)
    for entry in entries(corpus, "recipes/pagination/"):
        if entry.file.endswith((".html", ".htm")):
            site = entry.path.parent.name
            yield _named(site, entry.page(f"https://{site}/"), entry.file)
    labels = corpus / "articles/ground_truth.json"
    articles = json.loads(labels.read_text("utf-8")) if labels.exists() else {}
    for key, label in articles.items():
        path = corpus / "articles/html" / f"{key}.html.gz"
        if path.exists():
            page = Entry(path.name, "", {}, path).page(label["url"])
            host = urlsplit(label["url"]).hostname or ""
            yield _named(registered_domain(host) or host, page, label["url"])


def _named(site: str, page: Page, where: str, annotated: Iterable[str] = ()) -> Case:
    """A name is right if it is what the site's domain spells, or what a person marked in the page."""
    document = Document.of(replace(page, via=Via.FILE))
    facts = Facts(document)
    things = [(thing.type, thing.properties) for thing in facts.structured.things]
    got = read_company(document, things, facts.meta).name
    label = (registered_domain(site) or site).partition(".")[0]
    wanted = {company_name_key(each) for each in (label, label.removeprefix("the"), site, *annotated)}
    keys = {company_name_key(got), re.sub(r"[\W_]+", "", got.lower())} if got else set()
    return Case(site, f"{where}: {site}, read {got!r}", not keys.isdisjoint(wanted))


# The fields of openings that declare nothing


def _undeclared(corpus: Path) -> Iterator[tuple[str, Case]]:
    """Pages that declare nothing, and pages that do without what they declare."""
    for entry in entries(corpus, "pages/job_postings/", "recipes/swde/job-"):
        if entry.file.endswith((".html", ".htm")):
            base = entry.truth.get("url", "")
            page = entry.page(base if isinstance(base, str) else "")
            found = inspect(replace(page, body=_DECLARED.sub(b"data-nothing", page.body)), TODAY)
            site = entry.path.parent.name.removeprefix("job-").partition("-")[0]
            if site in ("blacklight", "coverletterer"):  # a tool that recorded pages of several sites
                site = re.split(r"[-_]", entry.path.stem)[0]
            for field, what, right in field_cases(entry, found):
                if field in UNDECLARED:
                    yield field, Case(site, what, right, read=shown(field, found) is not None)
            for field, got in _invented(entry, found):
                what = f"{entry.file}: {field} is not on the page, read {got!r}"
                yield field, Case(site, what, right=False, said=False)


def _invented(entry: Entry, found: Inspection) -> Iterator[tuple[str, Any]]:
    """What was read of fields of which the manifest says that the page has none."""
    for field in UNDECLARED:
        stated = [entry.truth[name] for name in LABELS[field] if name in entry.truth]
        if stated and not any(stated) and (got := shown(field, found)) is not None:
            yield field, got
