"""The main content of a page: the article without its surroundings; the whole text where a page is no
article.

Each block is worth its characters if it reads like prose and costs them if it reads like a menu. The section
with the highest sum holds the article. Inside it, the columns that carry the text are trusted and everything
beside them has to prove itself. Whether a page is an article at all is taken from what it declares: a vacancy
or a product reads like prose too, and losing its price or its place would be worse than keeping its menu.
"""

import re
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from thresher.reading.html.blocks import Block, BlockFlow, Section
from thresher.reading.html.document import Document
from thresher.reading.html.parser import Element, Node
from thresher.reading.text.plain import render
from thresher.reading.text.vocabulary import words

# Boilerplate: names of elements, and phrases, that give it away.

NAMES_READ = 400  # characters of class and id that are looked at; nobody names honestly at greater length


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names of parts that stand around an article. They count only for a minor part of the page: a wrapper of
# everything may be called anything.
_AROUND = _words(
    """
    ad addthis ads adsense adslot adunit advert advertisement advertising adverts affiliate agegate also author authors banner bio
    breadcrumb breadcrumbs byline caption carousel chat comment commentlist comments community consent cookie cookies copyright
    credit credits cta dateline disclaimer discussion disqus donate donation dropdown feedback figcaption follow footer gallery
    gdpr hashtags hidden interstitial keywords listing login masthead megamenu menu meta metadata modal more morestories nav
    navbar navigation newsletter onward optin outbrain overlay pager pagination paywall pingback poll popular popup postnav print
    printonly privacy promo promos promoted promotion quiz rating ratings readmore readnext recirc recirculation recommendation
    recommendations recommended recommends registration related remark remarks replies reply respond share sharebar shares
    sharethis sharing shoutbox sidebar signin signup sitemap skip skyscraper slideshow sociable social socials sponsor sponsored
    sponsors submenu subnav subscribe subscribers subscription suggested suggestions supplemental survey syndication taboola
    tagcloud taglist tags teaser teasers timestamp toc toolbar tooltip topics trackback trending upsell viral widget widgets
    youmaylike
    """
)
# Names that say what a page has, or what it is filed under, not what the element is.
_FLAGS = re.compile(r"(?:^|\s)(?:has|no|with|without|tag|category|format)-\S{1,100}", re.IGNORECASE)
_QUOTED = _words("embed embedded tweet")  # a post of a social network, shown within the article as part of it
_WORD_ENDS = re.compile(r"[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])")
_BODY = re.compile(
    r"(?:article|story|post|entry|news|blog|page|main|body)[-_]{0,2}(?:body|content|text|copy)|(?:^|\s)body-?copy|\barticle\b",
    re.IGNORECASE,
)

# A short block that starts so invites the reader elsewhere, or is printed beside the article for the record.
_ASIDE = re.compile(
    r"\W{0,3}(?:related|read (?:more|next|also|the full)|see also|also (?:read|see|on)|more (?:on|from|about|in|stories|news)\b|more:"
    r"|watch:|photos?:|follow (?:us|me|him|her|on)|subscribe|sign up|share (?:this|on|via)|like us|advertisement|copyright|©|\(c\)"
    r"|all rights reserved|click here|posted (?:in|by|on)|filed under|tags?:|tagged|categor(?:y|ies):|by [A-Z]|image(?: credit)?:"
    r"|photo(?: credit| by)?:|getty images|updated|published|source:|via:|comments?\b|leave a (?:comment|reply)|print this|email this"
    r"|this (?:article|story|post) (?:was|is) (?:originally )?(?:published|posted)|first published|reporting by|editing by"
    r"|contact (?:us|the)|download (?:the|our)|get (?:the|our))",
    re.IGNORECASE,
)
# A heading that starts so, late on the page, ends the article.
_END = re.compile(
    r"\W{0,3}(?:related|relacionad|artigos relacionad|art[ií]culos relacionad|articles? (?:liés|similaires)|ähnliche|mehr zum thema|weitere"
    r"|verwandte|à lire aussi|lire aussi|leer más|lea también|leia (?:mais|também)|leggi anche|lees ook|läs också|read (?:more|next)"
    r"|more (?:from|stories|news|on|in|like)|most (?:read|popular|viewed)|popular|recommended|recommandé"
    r"|you (?:may|might) (?:also )?(?:like|enjoy|be interested)|what to read next|up next|trending|latest"
    r"|recent (?:posts|articles|news)|about (?:the )?authors?|leave a (?:reply|comment|response)"
    r"|(?:\d{1,6} )?(?:comments?|responses?|replies|kommentare?|comentarios?|commentaires?|comentários?)\b|post a comment|deixe um|deja un"
    r"|schreibe? einen|laisser un|join the (?:conversation|discussion)|share (?:this|on)|tags?\b|follow us|subscribe|sign up|newsletter"
    r"|see also|also (?:read|see)|further reading|explore further|don.t miss|editor.s picks|sponsored|advertisement|footnotes?\b)",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"<img |\bfunction ?\([\w, ]{0,60}\) ?\{|\{\{|</?[a-z]{1,10}>|= ?\[\]|\bvar \w{1,40} ?=")
_CREDITED = re.compile(
    r"\((?:image|photo|picture|pic|credit|file|ap photo|foto|bild)\b[^()]{0,80}\)\W{0,3}$", re.IGNORECASE
)
_AGENCY = re.compile(r"\b(?:getty images|ap photo|afp|shutterstock|istock)\W{0,3}$", re.IGNORECASE)


def names(element: Element) -> str:
    """What the author of a page calls an element: its classes and its id."""
    return f"{element.attr('class') or ''} {element.attr('id') or ''}"[:NAMES_READ]


def named_around(names: str) -> bool:
    """Whether a name is one of those given to what stands around an article."""
    words = [word.lower() for word in _WORD_ENDS.split(_FLAGS.sub(" ", names))]
    return not _AROUND.isdisjoint(words) and _QUOTED.isdisjoint(words)


def named_body(names: str) -> bool:
    """Whether a name is one of those given to the body of an article."""
    return _BODY.search(names) is not None


def is_aside(text: str) -> bool:
    return _ASIDE.match(text) is not None


def is_end(text: str) -> bool:
    return _END.match(text) is not None


def is_script(text: str) -> bool:
    """Code that leaked into the text of a page."""
    return ("<" in text or "{" in text or "=" in text) and _SCRIPT.search(text) is not None


def is_credit(text: str) -> bool:
    """A caption that ends with who made the picture."""
    if ")" in text[-4:]:
        return _CREDITED.match(text, max(0, text.rfind("("))) is not None
    return _AGENCY.search(text[-18:]) is not None


# What a page declares itself to be (article, product, posting): more reliable than its layout, and cheap to
# read.

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


def _tags(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PERIPHERY = _tags("nav footer aside menu dialog button select option optgroup")
_HEADINGS = _tags("h1 h2 h3 h4 h5 h6")
_PROSE = _tags("p blockquote pre")
_FLOWING = _tags("p li blockquote pre")
_PLACED = _tags("p li blockquote pre dd dt td th h2 h3 h4 h5 h6")  # tags that are chosen for what the text is
_CONTAINERS = _tags("article main div section td body")

MINOR = 0.7  # a part with less of the page's prose than this may be set aside for its name
NAMED = 0.6  # a section named as an article's body is taken if it holds this much of the best section's worth
NEARLY_ALL = 0.85  # a part of the best section that holds this much of its worth is taken instead of it
LONG = 500  # characters from which a block may stand alone
COLUMN = 0.15  # a column carries the article if it holds this share of its prose
ENOUGH = 200  # characters of prose below which nothing is an article


@dataclass(frozen=True, slots=True)
class Content:
    """The blocks that matter, in order. `is_article` is false where they are all there are."""

    blocks: tuple[Block, ...]
    is_article: bool
    reason: str

    @property
    def text(self) -> str:
        return render(self.blocks)


def main_content(document: Document) -> Content:
    """The article of a page, or the whole page with the reason why it is not one."""
    flow = document.flow
    said = declared(document.root, document.url)
    if said in (Declared.OTHER, Declared.NOTHING):
        return Content(tuple(flow.blocks), is_article=False, reason=f"the page declares itself as {said}")
    scale = _Scale(flow)
    blocks = _article(flow, scale)
    prose = [block for block in blocks if block.size >= 80 and block.linked < 0.5]
    if sum(block.size for block in prose) < ENOUGH:
        return Content(
            tuple(flow.blocks), is_article=False, reason="there is too little prose for an article"
        )
    if said is Declared.PERHAPS and not (
        len(prose) >= 3 and sum(block.size for block in blocks) * 2 >= scale.plain
    ):
        return Content(
            tuple(flow.blocks),
            is_article=False,
            reason="less than half of the page is prose, but it may be an article",
        )
    return Content(tuple(blocks), is_article=True, reason=f"the page declares itself as {said}")


def article(flow: BlockFlow) -> list[Block]:
    """The blocks of the article, on the assumption that there is one."""
    return _article(flow, _Scale(flow))


def text_under(document: Document, headline: str) -> str:
    """What a page about one thing says of it: all that follows its headline, up to a late heading that ends
    it, without menus, footers and lists of links.

    Unlike an article it keeps every short line: of an opening, "Clearance required." may be the one that
    counts.
    """
    flow, wanted = document.flow, " ".join(headline.split())
    named = [at for at, block in enumerate(flow.blocks) if " ".join(block.text.split()) == wanted]
    first = next((at for at in named if flow.blocks[at].tag in _HEADINGS), named[0] if named else -1)
    own = [
        block
        for block in flow.blocks[first + 1 :]
        if block.linked <= 0.5 and not _is_periphery(block.section) and not is_script(block.text)
    ]
    prose, passed = sum(block.size for block in own), 0
    kept: list[Block] = []
    for block in own:
        ends = block.tag in _HEADINGS and (is_end(block.text) or words("recommended").is_one(block.text))
        if ends and prose - passed < 0.3 * prose:
            break
        passed += block.size
        kept.append(block)
    return render(kept).strip()


def _is_periphery(section: Section | None) -> bool:
    while section is not None:
        if section.tag in _PERIPHERY:
            return True
        section = section.parent
    return False


def _article(flow: BlockFlow, scale: "_Scale") -> list[Block]:
    best = scale.best()
    inside = [
        block
        for block in flow.blocks
        if best.index <= block.section.index < best.end and not scale.aside[block.section.index]
    ]
    return _trimmed(_kept(inside, scale.worth), _columns(inside, scale.worth))


def worth(block: Block) -> float:
    """Characters of prose; negative where the block reads like a menu. A heading says nothing either way."""
    size, linked, tag = block.size, block.linked, block.tag
    if tag in _HEADINGS:
        return 0.0
    if linked > 0.5 and not (tag in ("p", "li") and size > 150 and linked < 0.75):
        return -size
    if tag in _PROSE:
        return size * (1 - linked) if size >= 40 else 0.0
    if tag == "li":
        return size * (1 - linked) if size > 80 else -size / 2
    if tag in ("td", "th"):
        return size * (1 - 2 * linked) if size > 80 else -size / 5
    return size * (1 - 2 * linked) if size >= 100 else -size


class _Scale:
    """What every block and section of one page weighs; `plain` characters of it are neither links nor in
    menus.
    """

    def __init__(self, flow: BlockFlow) -> None:
        self._sections = flow.sections
        self.aside = [section.tag in _PERIPHERY for section in flow.sections]
        self._spread_aside()
        self.worth = {
            block: 0.0 if self.aside[block.section.index] else worth(block) for block in flow.blocks
        }
        self.plain = sum(
            block.size * (1 - block.linked) for block in flow.blocks if not self.aside[block.section.index]
        )
        self._set_names_aside()
        self._discount_the_lonely()
        self._total = self._summed(
            {b: -b.size if self.aside[b.section.index] and v else v for b, v in self.worth.items()}
        )

    def best(self) -> Section:
        """The section worth most; one that is named as an article's body, if it is worth nearly as much."""
        total = self._total
        best = max(self._sections, key=lambda section: (total[section.index], section.index))
        chosen = None
        for section in self._sections:
            value = total[section.index]
            if (
                value >= NAMED * total[best.index]
                and (chosen is None or value >= 0.9 * total[chosen.index])
                and _is_body(section)
            ):
                chosen = section
        return self._narrowed(chosen or best)

    def _narrowed(self, best: Section) -> Section:
        """Down to where nearly all of it stands: what little is left outside is a notice, a form, a
        signature.
        """
        enough = NEARLY_ALL * self._total[best.index]
        for section in self._sections[best.index + 1 : best.end]:
            if (
                section.parent is best
                and section.tag in _CONTAINERS
                and self._total[section.index] >= enough > 0
            ):
                best = section
        return best

    def _summed(self, worth: dict[Block, float]) -> list[float]:
        total = [0.0] * len(self._sections)
        for block, value in worth.items():
            total[block.section.index] += value
        for section in reversed(self._sections):
            if section.parent is not None:
                total[section.parent.index] += total[section.index]
        return total

    def _spread_aside(self) -> None:
        """What holds for a section holds for all inside it."""
        for section in self._sections:
            if section.parent is not None and self.aside[section.parent.index]:
                self.aside[section.index] = True

    def _set_names_aside(self) -> None:
        prose = self._summed({block: value for block, value in self.worth.items() if value > 0})
        known: dict[str, bool] = {" ": False}
        for section in self._sections[1:]:
            at = section.index
            if section.parent is not None and self.aside[section.parent.index]:
                self.aside[at] = True
            if (
                self.aside[at]
                or section.tag in ("body", "article", "main")
                or prose[at] >= MINOR * prose[0] > 0
            ):
                continue
            name = names(section.element)
            if name not in known:
                known[name] = named_around(name)
            self.aside[at] = known[name]

    def _discount_the_lonely(self) -> None:
        """Prose in a box of its own that is no paragraph is a teaser, a caption or a notice."""
        prose = [block for block, value in self.worth.items() if value > 0]
        company = Counter(block.column for block in prose)
        lonely = [b for b in prose if b.tag not in _PROSE and b.size < LONG and company[b.column] == 1]
        if len(lonely) < len(prose):  # where all stand alone, none is the odd one out
            self.worth.update(dict.fromkeys(lonely, 0.0))


def _is_body(section: Section) -> bool:
    if section.tag not in _CONTAINERS:
        return False
    element = section.element
    said = (
        section.tag in ("article", "main")
        or element.attr("itemprop") == "articleBody"
        or element.attr("role") == "main"
    )
    return said or named_body(names(element))


def _columns(blocks: list[Block], worth: dict[Block, float]) -> set[Section]:
    """The sections in which the article stands, paragraph under paragraph."""
    held: dict[Section, int] = {}
    for block in blocks:
        if worth[block] > 0:
            held[block.column] = held.get(block.column, 0) + block.size
    enough = COLUMN * sum(held.values())
    return {column for column, size in held.items() if size >= enough}


def _kept(blocks: list[Block], worth: dict[Block, float]) -> list[Block]:
    """The blocks that belong to the article, up to a late heading that ends it."""
    columns = _columns(blocks, worth)
    prose = sum(block.size for block in blocks if worth[block] > 0)
    flowing = (
        sum(block.size for block in blocks if worth[block] > 0 and block.tag in _FLOWING) >= 0.75 * prose
    )
    kept: list[Block] = []
    seen: set[str] = set()
    passed = 0
    for block in blocks:
        passed += block.size if worth[block] > 0 else 0
        if passed * 2 > prose and block.size < 60 and is_end(block.text):
            if block.tag in _HEADINGS and prose - passed < 0.3 * prose:
                break
            continue
        within = block.column in columns
        if _is_noise(block, within=within) or not (
            within or _proves_itself(block, worth[block], seen, flowing=flowing)
        ):
            continue
        if within and flowing and block.tag not in _PLACED and block.size < 200 and block.section.images:
            continue  # a caption: words in a box with a picture, where paragraphs have tags of their own
        kept.append(block)
    return kept


def _is_noise(block: Block, *, within: bool) -> bool:
    """What is no part of an article wherever it stands."""
    text, tag, size, linked = block.text, block.tag, block.size, block.linked
    if tag in ("figcaption", "h1"):  # the title is known apart
        return True
    if linked > 0.8 and not (tag in ("h2", "h3") and within):
        return True
    if tag == "li" and linked > 0.6 and size < 150:
        return True
    if size < 160 and (linked > 0.3 or size < 80) and is_aside(text):
        return not (within and tag == "p" and linked < 0.1 and text[-1] in '.!?"”')
    if size < 350 and is_credit(text):
        return True
    return tag != "pre" and size > 20 and is_script(text)


def _proves_itself(block: Block, value: float, seen: set[str], *, flowing: bool) -> bool:
    """Whether a block beside the columns is worth keeping: tagged as text or clearly prose, and not said
    before.
    """
    size = block.size
    if block.tag not in _PLACED and (value <= 0 or (flowing and size < 200)):
        return False
    if size >= 60:
        if block.text in seen:
            return False
        seen.add(block.text)
    return True


def _trimmed(blocks: list[Block], columns: set[Section]) -> list[Block]:
    """Without the short lines before the first paragraph and after the last."""
    first, last = 0, len(blocks)
    while first < last and not _opens(blocks[first], columns):
        first += 1
    while last > first and not _closes(blocks[last - 1], columns):
        last -= 1
    return blocks[first:last]


def _opens(block: Block, columns: set[Section]) -> bool:
    size = block.size
    if block.tag == "p" and block.column in columns and size >= 20:
        return True
    return size >= (60 if block.tag in _FLOWING or block.tag == "dd" else 120)


def _closes(block: Block, columns: set[Section]) -> bool:
    return (block.tag in ("p", "li", "td") and block.column in columns) or _opens(block, columns)
