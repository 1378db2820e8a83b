"""The words that give boilerplate away: in the names authors give to elements, and in the phrases printed on
pages.

General words only. A word is here because many makers of pages use it for the same thing; none is here for
one site. All patterns are anchored or short, so that no text can make them slow.
"""

import re

from thresher.reading.html import Element

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
