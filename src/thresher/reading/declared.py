"""What a page says it is. Publishers tell search engines and social networks whether a page is an article, a
product or a posting; that is worth more than any guess from its layout, and costs a few look-ups.
"""

import re
from enum import StrEnum

from thresher.reading.html import Element, Node

SCRIPT_READ = 200_000  # characters of one script that are searched for its type

_LD_TYPE = re.compile(r'"@type"\s{0,9}:\s{0,9}\[?\s{0,9}"(?:https?://schema\.org/)?([A-Za-z]{2,40})"')
_ARTICLES = re.compile(r"(?:Article|BlogPosting|Report|LiveBlogPosting)$")
_THINGS = frozenset({"Product", "ProductGroup", "Vehicle"})
_SIDELINES = frozenset(
    {"Offer", "Recipe", "LocalBusiness", "Restaurant", "Hotel"}
)  # what an article may be about, too
_LISTS = frozenset({"CollectionPage", "Blog", "SearchResultsPage", "ItemList"})
_TELLING = (
    'meta[property="article:published_time"], meta[property="og:type"], meta[name="og:type"], '
    'script[type="application/ld+json"], [itemtype], [itemprop="articleBody"], .hentry, .h-entry, article'
)
_DATED = (
    'time[pubdate], [itemprop="datePublished"], meta[name="pubdate" i], meta[name="publish-date" i], meta[name="publication_date" i], '
    'meta[name="dc.date" i], meta[name="dc.date.issued" i], meta[name="date" i]'
)
_SIGNED = 'time[datetime], [rel~="author"]'
# A date in the path, or a long name under news, blog and the like: how addresses of articles are made
# everywhere.
_ADDRESS = re.compile(
    r"/(?:19|20)\d\d/[01]?\d/"
    r"|/(?:[a-z]{1,20}-){0,3}(?:news|blog|blogs|article|articles|story|stories|press|magazine|opinion)(?:-[a-z]{1,20}){0,3}/"
    r"(?:[^/?#]{1,100}/){0,4}[^/?#-]{1,60}-[^/?#-]{1,60}-[^/?#-]{1,60}-",
    re.IGNORECASE,
)


class Declared(StrEnum):
    """`article`: said outright. `perhaps`: said in a way that plain pages say too. `other`: something with
    fields of its own.
    """

    ARTICLE = "article"
    PERHAPS = "perhaps"
    OTHER = "other"
    NOTHING = "nothing"


def declared(root: Node, url: str = "") -> Declared:
    """Read the declarations of a page. An article about a product is an article; a product without one is
    not.
    """
    said = _Said()
    for element in root.raw.select(_TELLING):
        said.hear(element)
    if said.is_other:
        return Declared.OTHER
    if said.is_article:
        return Declared.ARTICLE
    signed = said.containers == 1 and root.raw.select_one(_SIGNED) is not None
    perhaps = (
        said.og_article or signed or _ADDRESS.search(url[:500]) or root.raw.select_one(_DATED) is not None
    )
    return Declared.PERHAPS if perhaps and not said.is_list else Declared.NOTHING


class _Said:
    """All that a page says about itself, collected."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.containers = self.items = self.bodies = 0
        self.og_article = self.product = self.published = False

    def hear(self, element: Element) -> None:
        if element.tag == "meta":
            content = (element.attr("content") or "").strip().lower()
            self.published |= element.attr("property") == "article:published_time" and content != ""
            self.og_article |= content == "article"
            self.product |= "product" in content
        elif element.tag == "script":
            self.kinds.update(_LD_TYPE.findall(element.text[:SCRIPT_READ]))
        elif (kind := element.attr("itemtype")) is not None:
            kind = kind.rstrip("/").rpartition("/")[2]
            self.items += _ARTICLES.search(kind) is not None
            self.kinds.add(kind)
        elif element.attr("itemprop") == "articleBody":
            self.bodies += 1
        else:
            self.containers += 1

    @property
    def is_list(self) -> bool:
        """Several articles, none of them the one that the page is about."""
        several = self.items > 2 or not _LISTS.isdisjoint(self.kinds)
        return several and not (self.published or self.og_article or self.bodies == 1)

    @property
    def is_article(self) -> bool:
        named = self.bodies == 1 or any(_ARTICLES.search(kind) for kind in self.kinds)
        return self.published or (named and not self.is_list)

    @property
    def is_other(self) -> bool:
        if "JobPosting" in self.kinds:  # a board on a blog's software dates its postings like articles
            return True
        if self.is_article:
            return False
        return (
            self.product
            or not _THINGS.isdisjoint(self.kinds)
            or not (self.og_article or _SIDELINES.isdisjoint(self.kinds))
        )
