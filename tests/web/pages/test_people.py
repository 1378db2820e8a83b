"""People, settings and the audit log on the dashboard, by readers of every role: what each sees and does."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.apps.roles.http.scraping import World
from tests.web.conftest import APPS, project, served
from tests.web.pages.visitor import GOOD, Visitor, cookie_of, page, with_anna
from thresher.admin import admins
from thresher.admin.settings import set_setting
from thresher.admin.sources import add as add_source
from thresher.admin.sources import disable
from thresher.core.clock import FrozenClock
from thresher.store.audit import Actor, acting
from thresher.web.pages import PAGES
from thresher.web.pages.page import app_pages
from thresher.web.route import app_routes
from thresher.web.routes import ROUTES

pytestmark = pytest.mark.promise(17)

OTHER = "another horse battery"
SOURCE = Path(__file__).resolve().parents[3] / "src" / "thresher"
EVERY_PAGE = [*PAGES, *app_pages(APPS, PAGES)]
EVERY_ROUTE = [*ROUTES, *(route for _, route in app_routes(APPS, ROUTES))]
OPENS = {"viewer": {"read"}, "operator": {"read", "write"}, "admin": {"read", "write", "admin"}}
FORM = re.compile(r'<form method="post" action="([^"]*)"')
EVERYBODYS = {"/logout", "/account/password"}


def filled(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "1", path)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with project(tmp_path_factory.mktemp("people")) as shop, served(shop) as url:
        yield World(shop, FrozenClock(), url)


@pytest.fixture(scope="module")
def readers(place: World) -> dict[str, Visitor]:
    stranger = with_anna(place)
    for role in ("viewer", "operator"):
        admins.create_admin(place.store, role, GOOD, role)
    names = {"viewer": "viewer", "operator": "operator", "admin": "anna"}
    return {role: stranger.log_in(name) for role, name in names.items()}


def token(reader: Visitor) -> str:
    """The token of the forms that everybody has."""
    found = re.search(r'name="csrf" value="([0-9a-f]{64})"', reader.see("/account"))
    assert found
    return found[1]


@pytest.mark.parametrize("role", OPENS)
def test_a_page_opens_for_whom_it_is_meant_and_tells_others_which_role_it_needs(readers, role):
    reader, wrong = readers[role], []
    csrf = token(reader)
    there = [each for each in EVERY_PAGE if not each.is_open and each.path not in ("/live", "/logout")]
    for each in there:
        if each.needs in OPENS[role] and each.method == "POST":
            continue  # it would be done
        told = (
            reader.ask("GET", filled(each.path))
            if each.method == "GET"
            else reader.send(filled(each.path), csrf=csrf)
        )
        is_refused = told.status == 403 and f"the role {role}" in told.body.decode()
        if is_refused is (each.needs in OPENS[role]):
            wrong.append((each.method, each.path, told.status))
    assert wrong == []


@pytest.mark.parametrize("role", OPENS)
def test_a_login_of_the_api_opens_what_the_role_does(readers, role):
    reader, wrong = readers[role], []
    headers = {"X-CSRF-Token": token(reader), "Content-Type": "application/json"}
    for route in EVERY_ROUTE:
        if route.scope is None or (route.scope in OPENS[role] and route.method != "GET"):
            continue
        told = reader.ask(route.method, filled(route.path), headers, data=b"{}")
        if (told.status == 403) is (route.scope in OPENS[role]):
            wrong.append((route.method, route.path, told.status))
    assert wrong == []


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_nobody_sees_a_form_that_would_refuse_them(readers, role):
    needs = {each.path: each.needs for each in EVERY_PAGE if each.method == "POST"}
    for each in EVERY_PAGE:
        if each.method != "GET" or each.needs not in OPENS[role] or each.path == "/live":
            continue
        told = readers[role].ask("GET", filled(each.path))
        for action in FORM.findall(told.body.decode()):
            matching = [
                need
                for path, need in needs.items()
                if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", path), action)
            ]
            assert action in EVERYBODYS or set(matching) <= OPENS[role], (each.path, action)


def test_every_form_of_a_template_asks_what_the_reader_may_do():
    """Also what no test shows: a form stands behind `may`, or on a page that is only for those who may."""
    ours = {"keys", "key_revoke", "people", "person", "login", "setup", "shell", "account"}
    for file in SOURCE.rglob("templates/*.html"):
        if file.stem in ours and "web/pages" in file.as_posix():
            continue
        conditions: list[str] = []
        for found in re.finditer(r"{% (if|endif)([^%]*)%}|" + FORM.pattern, file.read_text("utf-8")):
            if found[1] == "if":
                conditions.append(found[2])
            elif found[1] == "endif":
                conditions.pop()
            else:
                assert any("may(" in each or each.strip() == "csrf" for each in conditions), (
                    f'{file.name}: put {found[0]} into {{% if may("write") %}} ... {{% endif %}}'
                )


def test_the_navigation_leads_nobody_to_a_closed_page(readers):
    for role, reader in readers.items():
        links = set(re.findall(r'<a href="(/[a-z]+)"', reader.see("/settings")))
        assert (
            {"/keys", "/people", "/audit"} <= links
            if role == "admin"
            else not {"/keys", "/people", "/audit"} & links
        )


def test_only_logging_out_and_the_own_password_are_changes_that_viewers_may_make():
    assert {each.path for each in EVERY_PAGE if each.method == "POST" and each.needs == "read"} == EVERYBODYS


def test_what_an_administrator_has_closed_an_operator_does_not_open(place, readers):
    add_source(place.store, "boards", {})
    disable(place.store, "boards", "they asked us to")
    headers = {"X-CSRF-Token": token(readers["operator"])}
    told = readers["operator"].ask("POST", "/api/sources/boards/enable", headers)
    assert (told.status, "administrator" in told.json["detail"]) == (409, True)
    headers = {"X-CSRF-Token": token(readers["admin"])}
    assert readers["admin"].ask("POST", "/api/sources/boards/enable", headers).status == 200


def test_a_guarded_setting_is_changed_by_administrators_and_a_tunable_one_by_operators(readers):
    operator, admin = readers["operator"], readers["admin"]
    assert 'action="/settings/retry.base"' in operator.see("/settings/retry.base")
    assert 'action="/settings/web.rate"' not in operator.see("/settings/web.rate")
    csrf = token(operator)
    assert "only an administrator may change it" in page(
        operator.send("/settings/web.rate", csrf=csrf, value="5"), 403
    )
    assert operator.send("/settings/retry.base", csrf=csrf, value="61.5").status == 303
    shown = admin.see("/settings/retry.base")
    assert "61.5 seconds" in shown
    assert "operator operator" in shown, "the history says who"
    wrong = page(operator.send("/settings/retry.base", csrf=csrf, value="-1"), 400)
    assert "must be a number from 0 to 86400 (seconds), got &#39;-1&#39;; nothing was changed" in wrong
    assert 'value="-1"' in wrong, "what was typed is still there"
    assert "retry.base" in operator.see("/settings?changed=1")
    assert operator.send("/settings/retry.base/restore", csrf=csrf).status == 303
    assert "It was never changed" not in operator.see("/settings/retry.base")
    assert "60 seconds" in operator.see("/settings/retry.base")
    assert "there is no setting" in operator.see("/settings/no.such", 404)
    assert "No setting has these words" in operator.see("/settings?find=zebra")


def test_somebody_is_added_changed_and_removed(world):
    anna = with_anna(world).log_in()
    csrf = token(anna)
    made = page(anna.send("/people", csrf=csrf, name="bert", role="viewer", password=""), 201)
    password = re.search(r'<p class="secret"><code>([^<]+)</code>', made)
    assert password
    bert = Visitor(anna.url).log_in("bert", password[1])
    assert bert.ask("GET", "/people").status == 403
    (number,) = (each.id for each in admins.list_admins(world.store) if each.name == "bert")
    assert anna.send(f"/people/{number}/role", csrf=csrf, role="admin").status == 303
    assert "bert" in bert.see("/people")
    assert anna.send(f"/people/{number}/password", csrf=csrf, password=OTHER).status == 303
    assert bert.ask("GET", "/people").status == 303, "the login has ended"
    assert "same" not in page(
        anna.send("/people", csrf=csrf, name="bert", role="viewer", password=OTHER), 409
    )
    for wrong in ({"role": "root"}, {"name": " "}, {"password": "short"}):
        fields = {"name": "carl", "role": "viewer", "password": OTHER} | wrong
        assert 'role="alert"' in page(anna.send("/people", csrf=csrf, **fields), 400)
    assert anna.send(f"/people/{number}/remove", csrf=csrf).status == 303
    (annas,) = admins.list_admins(world.store)
    for change, fields in (("remove", {}), ("role", {"role": "viewer"})):
        told = page(anna.send(f"/people/{annas.id}/{change}", csrf=csrf, **fields), 409)
        assert "only administrator" in told
    log = anna.see("/audit")
    assert "POST /people name=&#39;bert&#39; role=&#39;viewer&#39;" in log
    assert f"POST /people/{number}/role role=&#39;admin&#39;" in log
    for secret in (password[1], OTHER, GOOD):
        assert secret not in log


def test_a_person_changes_their_own_password_and_stays_logged_in_here_alone(world):
    with_anna(world)
    admins.create_admin(world.store, "vera", GOOD, "viewer")
    here = Visitor(world.url).log_in("vera")
    elsewhere = Visitor(world.url).log_in("vera")
    csrf = token(here)
    wrong = {"old": "not the password", "new": OTHER, "again": OTHER}
    assert "present password is wrong" in page(here.send("/account/password", csrf=csrf, **wrong), 401)
    assert "not the same" in page(
        here.send("/account/password", csrf=csrf, old=GOOD, new=OTHER, again=GOOD), 400
    )
    assert world.rows("select who, action from audit") == [], "a wrong guess changes nothing"
    told = here.send("/account/password", csrf=csrf, old=GOOD, new=OTHER, again=OTHER)
    assert told.status == 303
    assert "Your password is changed" in replace(here, cookie=cookie_of(told)).see("/account?changed=1")
    assert elsewhere.ask("GET", "/account").status == 303
    assert Visitor(world.url).log_in("vera", OTHER).ask("GET", "/account").status == 200
    assert world.rows("select who, role, action from audit") == [("vera", "viewer", "POST /account/password")]


HOSTILE = "</code><script>alert(1)</script>\u202e' onmouseover='x"


def test_the_audit_log_is_paged_filtered_and_shows_hostile_words_as_text(world):
    anna = with_anna(world).log_in()
    for number in range(60):
        with acting(
            Actor("anna" if number % 2 else HOSTILE[:40], "key", None, "api", f"change {number} {HOSTILE}")
        ):
            set_setting(world.store, "retry.base", f"{number}", "a test")
    first = anna.see("/audit")
    assert (first.count('<tr role="row" id='), "change 59" in first, "change 9 " in first) == (
        50,
        True,
        False,
    )
    older = re.search(r'rel="next" href="([^"]+)"', first)
    assert older
    second = anna.see(older[1].replace("&amp;", "&"))
    assert ("change 9 " in second, "change 59" in second) == (True, False)
    assert "&lt;script&gt;" in first
    mine = anna.see("/audit?who=anna")
    assert ("change 59" in mine, "change 58" in mine) == (True, False)
    assert "No change by" in anna.see("/audit?who=nobody")
    anna.see("/audit?before=x", 400)
    api = anna.ask("GET", "/api/audit?who=anna&limit=2").json
    assert [each["action"][:9] for each in api] == ["change 59", "change 57"]
