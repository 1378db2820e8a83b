"""Whatever is changed on a page of the dashboard is changed over the API too, by whoever may do it there."""

import ast
import inspect
import textwrap
from collections.abc import Iterator

import pytest

from tests.web.conftest import ALL_ROUTES, APPS
from thresher.web.auth import HARMLESS
from thresher.web.pages import PAGES
from thresher.web.pages.page import DashboardPage, app_pages
from thresher.web.route import Route

pytestmark = pytest.mark.promise(17)

# What a page changes, and the routes that do the same. A page that does several things says which in its form
# or at the end of its path.
TABLE = {
    "/tasks/{task}/retry": "retry_task",
    "/tasks/{task}/cancel": "cancel_task",
    "/failures/retry": "retry_failures",
    "/runs/{run}/cancel": "cancel_run",
    "/sources/{name:path}/test": "test_source",
    "/sources/{name:path}/pause": "pause_source",
    "/sources/{name:path}/resume": "resume_source",
    "/sources/{name:path}/disable": "disable_source",
    "/sources/{name:path}/enable": "enable_source",
    "/sources/{name:path}/limits": "change_source_limits",
    "/schedules/{name:path}/pause": "pause_schedule",
    "/schedules/{name:path}/resume": "resume_schedule",
    "/schedules/{name:path}/fire": "fire_schedule",
    "/setup": "set_up",
    "/login": "log_in",
    "/logout": "log_out",
    "/settings/{name}": "change_setting",
    "/settings/{name}/restore": "change_setting",
    "/keys": "create_key",
    "/keys/{key_id}/revoke": "revoke_key",
    "/keys/{key_id}/disable": "disable_key",
    "/keys/{key_id}/enable": "enable_key",
    "/people": "add_person",
    "/people/{person_id}/role": "change_person_role",
    "/people/{person_id}/password": "set_person_password",
    "/people/{person_id}/remove": "remove_person",
    "/account/password": "change_own_password",
    "/recipes": "add_recipe",
    "/recipes/{name}/edit": "replace_recipe",
    "/recipes/{name}/{change} detect": "reconfigure_recipe",
    "/recipes/{name}/{change} answer": "answer_recipe_question",
    "/recipes/{name}/{change} revert": "revert_recipe",
    "/recipes/{name}/{change} remove": "retire_recipe",
    "/recipes/{name}/{change} extract": "start_extraction",
    "/extractions/{extraction}/{change} cancel": "cancel_extraction",
    "/extractions/{extraction}/{change} resume": "resume_extraction",
    "/extractions/{extraction}/{change} retry": "retry_extraction",
    "/extractions/{extraction}/{change} reread": "reread_extraction",
    "/hiring/postings/{key:path}": "ungroup_posting",
    "/jobs/matches": "change_match",
    "/jobs/boards/{key:path} enable": "enable_board",
    "/jobs/boards/{key:path} disable": "disable_board",
    "/jobs/boards/{key:path} test": "test_board",
    "/jobs/companies": "add_companies",
    "/jobs/why/change": "make_match_change",
    "/jobs/why/judge": "judge_postings",
    "/prices": "add_item",
    "/prices/{item}/{change} collect": "collect_prices",
    "/prices/{item}/{change} archive": "archive_item",
    "/prices/{item}/{change} unarchive": "unarchive_item",
    "/prices/{item}/{change} watch": "watch_item",
    "/prices/{item}/{change} alerts": "watch_item",
    "/prices/{item}/{change} forget": "remove_alert",
    "/price-sources/{source}": "change_price_source",
    "/queries": "add_query",
    "/queries/{key}/backfill": "backfill_query",
    "/queries/{key}/reset": "reset_query",
    "/queries/{key}/{change} run": "run_query",
    "/queries/{key}/{change} pause": "pause_query",
    "/queries/{key}/{change} resume": "resume_query",
    "/signals/{key:path}": "decide_signal",
    "/candidates": "add_candidates",
    "/candidates/matches": "change_candidate_match",
    "/candidates/{key:path}": "remove_candidate",
    "/roles": "add_roles",
    "/roles/{role} approve": "approve_role",
    "/roles/{role} reject": "reject_role",
    "/roles/{role} priority": "change_role",
    "/roles/{role} rename": "change_role",
    "/roles/{role} merge": "merge_role",
    "/roles/{role} split": "split_role",
    "/webhooks": "add_webhook",
    "/webhooks/{name}/test": "test_webhook",
    "/webhooks/{name}/pause": "pause_webhook",
    "/webhooks/{name}/resume": "resume_webhook",
    "/webhooks/{name}/rotate": "rotate_webhook",
    "/webhooks/{name}/remove": "remove_webhook",
    "/webhooks/{name}/deliveries/{task}/replay": "replay_webhook_delivery",
    "/scrapers import": "import_late_postings",
    "/scrapers drop": "drop_late_postings",
    "/scrapers pause": "pause_platform",
    "/scrapers resume": "resume_platform",
    "/scrapers end": "end_scraper_session",
}
FORMS = [page for page in (*PAGES, *app_pages(APPS, PAGES)) if page.method not in HARMLESS]
ROUTES = {route.name: route for _, route in ALL_ROUTES}


def actions(page: DashboardPage) -> Iterator[str]:
    """What a page changes: its path, with each of the words that its function tells apart."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(page.endpoint)))
    found = [case.pattern.value.value for case in ast.walk(tree) if is_word(case)]  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Dict)
            and ast.unparse(node.targets) == "known"
        ):
            found += [key.value for key in node.value.keys if isinstance(key, ast.Constant)]
    yield from (f"{page.path} {word}" for word in dict.fromkeys(found)) if found else (page.path,)


def is_word(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.match_case)
        and isinstance(node.pattern, ast.MatchValue)
        and isinstance(node.pattern.value, ast.Constant)
    )


def changing(name: str) -> Route:
    route = ROUTES[name]
    assert route is not None
    return route


def test_whatever_a_page_changes_a_route_changes_too():
    assert sorted(each for page in FORMS for each in actions(page)) == sorted(TABLE), (
        "name the route that does what the page does; if there is none, write it with the same service function"
    )
    assert set(TABLE.values()) - set(ROUTES) == set()
    assert [name for name in TABLE.values() if changing(name).method in HARMLESS] == []


def test_a_route_needs_what_the_page_needs():
    pages = {page.path: page for page in FORMS}
    differ = {
        path
        for path, name in TABLE.items()
        if not pages[path.partition(" ")[0]].is_open
        and pages[path.partition(" ")[0]].needs != changing(name).scope
    }
    assert differ == set()
