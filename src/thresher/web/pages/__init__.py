"""The dashboard: pages for people, made on the server. This list is all there is; the navigation is read off
it.

To add one: a module with a function of a visit and its row, a template, and a line here.
"""

from thresher.web.pages import home, keys, login, scrapers, static
from thresher.web.pages.page import Page

PAGES: tuple[Page, ...] = (
    *home.PAGES,
    *static.PAGES,
    *login.PAGES,
    *scrapers.PAGES,
    *keys.PAGES,
)
