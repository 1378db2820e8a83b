"""The plan of a detection on sites given by hand: what it finds, proves, and does not believe."""

import time
from urllib.parse import urlsplit

import orjson
import pytest

from tests.apps.extractions.detection.walks import HOST, Answer, Site, course, listing, numbered, rows, walked
from tests.apps.extractions.test_detect_catalogues import entity_of
from thresher.apps.extractions.detection.report import Confidence
from thresher.apps.extractions.detection.steps import Asked, Found, Hopeless, Unclear
from thresher.apps.extractions.model import Configuration, Level, PageType, PagingKind
from thresher.apps.extractions.recipe_file import configuration_said, read_configuration_json
from thresher.practice.web.planted import catalogue
from thresher.practice.web.web import Web

COURSES = f"{HOST}/courses"


def found(site: Site, url: str = COURSES, **how: object) -> Found:
    step = walked(site, url, **how)
    assert isinstance(step, Found), step
    return step


def test_a_numbered_list_of_details_is_understood_and_counted():
    site = Site(numbered(47))
    step = found(site)
    lists, details = step.configuration.levels
    assert (lists.page_type, details.page_type) == (PageType.DETAIL_LINKS, PageType.DETAIL)
    assert lists.link_pattern == r"^https://a\.example/course/\d+$"
    assert lists.pagination.url_pattern == f"{COURSES}?page={{page_num}}"
    assert lists.pagination.total_pages is None, "the list says so itself, every time"
    assert step.report.items.low <= 47 <= step.report.items.high
    assert step.report.items.confidence is Confidence.CHECKED
    assert step.report.levels[0].paging.after_last == "answers 404"
    assert step.made_by == "rules"
    assert len(site.asked) == len(set(site.asked)) <= 12


@pytest.mark.parametrize("after", ["none", "empty", "repeat"])
def test_a_total_that_lies_is_found_out(after: str):
    site = Site(numbered(47, claims=900, after=after))
    step = found(site)
    assert step.configuration.levels[0].pagination.total_pages == 5
    assert step.report.items.low <= 47 <= step.report.items.high
    assert any("claims 900 pages and has 5" in note for note in step.report.notes)
    assert len(site.asked) < 40


@pytest.mark.promise(15)
def test_a_list_that_never_ends_and_claims_a_billion_pages_ends_the_search():
    def page(url: str) -> str:
        return listing(int(url.partition("page=")[2] or 1), 10**12, claims=10**9)

    site = Site(numbered(47) | {COURSES: page, f"{COURSES}?page=*": page})
    step = found(site)
    assert step.configuration.levels[0].pagination.total_pages is None
    assert step.report.items.likely is None
    assert len(site.asked) < 60


def test_a_second_page_that_repeats_the_first_is_no_second_page():
    first = listing(1, 47)
    step = found(Site(numbered(47) | {f"{COURSES}?page=*": lambda _: first}))
    assert step.configuration.levels[0].pagination is None
    assert any("nothing new" in note for note in step.report.notes)


def test_next_links_are_followed_to_see_that_they_lead_on():
    def page(url: str) -> str:
        at = int(url.partition("after=")[2] or 0)
        more = f'<a rel="next" href="/courses?after={at + 10}">Next</a>' if at < 30 else ""
        return f"<h1>Courses</h1>{rows(range(at, min(at + 10, 33)))}{more}"

    step = found(Site(numbered(1) | {COURSES: page, f"{COURSES}?after=*": page}))
    assert step.configuration.levels[0].pagination.kind is PagingKind.NEXT_LINK
    assert (step.report.items.likely, step.report.items.confidence) == (33, Confidence.COUNTED)


def departments() -> dict[str, Answer]:
    names = ["arts", "law", "medicine", "music", "physics"]
    links = "".join(f'<li><a href="/dept/{name}">Department of {name}</a></li>' for name in names)

    def department(url: str) -> str:
        start = 100 * names.index(url.rpartition("/")[2])
        return f"<title>{url}</title><h1>Courses of {url[-4:]}</h1>{rows(range(start, start + 6))}"

    return {
        f"{HOST}/": f"<title>Catalogue</title><h1>Departments</h1><ul>{links}</ul>",
        f"{HOST}/dept/*": department,
        f"{HOST}/course/*": lambda url: course(int(url.rpartition("/")[2])),
    }


def test_categories_are_told_from_details_by_what_is_behind_them():
    step = found(Site(departments()), f"{HOST}/")
    kinds = [level.page_type for level in step.configuration.levels]
    assert kinds == [PageType.CATEGORY_LINKS, PageType.DETAIL_LINKS, PageType.DETAIL]
    assert step.report.items.likely == 30
    assert step.configuration.levels[0].link_pattern == r"^https://a\.example/dept/[^/?#&]+$"


def departments_of_which_some_are_empty(empty: set[str]) -> Site:
    """Lists that say that they have nothing today."""
    site = Site(departments())
    usual = site.pages[f"{HOST}/dept/*"]
    nothing = "<title>Courses</title><h1>0 results</h1><p>No courses were found here.</p>"
    site.pages[f"{HOST}/dept/*"] = lambda url: nothing if url.rpartition("/")[2] in empty else usual(url)
    return site


@pytest.mark.promise(7)
def test_lists_that_say_they_are_empty_are_no_samples_of_what_lists_look_like():
    """Of five departments the first and the last have no courses this term."""
    step = found(departments_of_which_some_are_empty({"arts", "physics"}), f"{HOST}/")
    kinds = [level.page_type for level in step.configuration.levels]
    assert kinds == [PageType.CATEGORY_LINKS, PageType.DETAIL_LINKS, PageType.DETAIL]
    troubles = [each.trouble for each in step.report.levels[1].samples if each.trouble]
    assert troubles == ['it says "0 results"'] * 2


def test_where_all_lists_are_empty_that_is_the_reason():
    step = walked(
        departments_of_which_some_are_empty({"arts", "law", "medicine", "music", "physics"}), f"{HOST}/"
    )
    assert isinstance(step, Hopeless)
    assert f'{HOST}/dept/arts says "0 results"' in step.reason


def test_lists_of_one_row_are_not_taken_for_pages_about_one_thing():
    """Nothing of what is wanted stands on them. Where that is not certain a person is asked, and nothing is
    guessed.
    """
    site = Site(departments())
    names = ["arts", "law", "medicine", "music", "physics"]

    def department(url: str) -> str:
        at = names.index(url.rpartition("/")[2])
        return f'<title>{url}</title><h1>Department</h1><p><a href="/course/{at}">Course {at}</a></p>'

    site.pages[f"{HOST}/dept/*"] = department
    step = walked(site, f"{HOST}/")
    assert isinstance(step, Unclear), step
    assert "about one course, or is it a list" in step.question.asks


def many_departments(goes_on: str | None) -> dict[str, Answer]:
    """Nine departments, of which four are looked at; one of the others has a second page."""
    names = [f"dept-{at}" for at in range(9)]
    links = "".join(f'<li><a href="/dept/{name}">Department of {name}</a></li>' for name in names)

    def department(url: str) -> str:
        name, _, second = url.rpartition("/")[2].partition("?page=")
        start = 100 * names.index(name) + (6 if second else 0)
        pager = f'<a rel="next" href="/dept/{name}?page=2">Next</a>' if name == goes_on and not second else ""
        return f"<title>{url}</title><h1>Courses of {name}</h1>{rows(range(start, start + 6))}{pager}"

    return {
        f"{HOST}/": f"<title>Catalogue</title><h1>Departments</h1><ul>{links}</ul>",
        f"{HOST}/dept/*": department,
        f"{HOST}/course/*": lambda url: course(int(url.rpartition("/")[2])),
    }


@pytest.mark.promise(7)
def test_lists_that_were_not_looked_at_may_go_on():
    """A rare second page must not be lost because the samples have none."""
    site = Site(many_departments("dept-1"))
    step = found(site, f"{HOST}/")
    assert f"{HOST}/dept/dept-1" not in site.asked
    root, department, _ = step.configuration.levels
    assert root.pagination is None, "it was looked at, and ends"
    assert department.pagination.kind is PagingKind.NEXT_LINK
    assert any("next page" in note for note in step.report.notes)


def test_lists_that_were_all_looked_at_end_where_they_were_seen_to_end():
    step = found(Site(departments()), f"{HOST}/", samples=5)
    assert [level.pagination for level in step.configuration.levels] == [None, None, None]
    assert not any("next page" in note for note in step.report.notes)


def test_a_level_is_called_by_what_a_model_says_that_it_leads_to():
    """A small catalogue, whose subjects list so little that rules are not certain. What is detected is a
    configuration that a person could write.
    """
    of, web = catalogue("n40.departments"), Web(7)
    assert of is not None

    def page(url: str) -> str | None:
        parts = urlsplit(url)
        target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        answer, _ = web.answer(web.arrive(of.host, "GET", target, {}), {}, b"")
        is_open = not target.startswith("/members/")  # as its robots.txt says
        return answer.body.decode() if is_open and answer.status == 200 else None

    class Agreeing(dict[str, Asked]):
        """A model that says of every page that it is a list."""

        def get(self, key: str, default: object = None) -> Asked:
            return (
                Asked("page_type", "DETAIL_LINKS", (), 3, agreed=True) if "page_type" in key else Asked(key)
            )

    site = Site({f"https://{of.host}/*": page}, entity_of(of))
    step = found(site, of.start_url, can_ask=True, opinions=Agreeing())
    kinds = [str(level.page_type) for level in step.configuration.levels]
    assert kinds == ["CATEGORY_LINKS", "CATEGORY_LINKS", "DETAIL_LINKS", "DETAIL"]
    assert [report.page_type for report in step.report.levels] == kinds
    again = read_configuration_json(configuration_said(step.configuration), of.start_url)
    assert again == step.configuration


def test_recommendations_on_a_detail_page_do_not_make_it_a_list():
    related = '<div class="more"><h2>More</h2>' + rows(range(12)) + "</div>"
    pages = numbered(47) | {f"{HOST}/course/*": lambda url: course(int(url.rpartition("/")[2]), related)}
    step = found(Site(pages))
    assert [level.page_type for level in step.configuration.levels] == [
        PageType.DETAIL_LINKS,
        PageType.DETAIL,
    ]


def test_a_menu_is_not_taken_for_the_list():
    menu = (
        "<div id=top>" + "".join(f'<a href="/topic/{w}">Topic {w}</a>' for w in "abcdefghijklmno") + "</div>"
    )

    def page(url: str) -> str:
        return listing(int(url.partition("page=")[2] or 1), 47, head=menu)

    pages = numbered(47) | {
        COURSES: page,
        f"{COURSES}?page=*": lambda url: page(url) if int(url[-1]) < 6 else None,
        f"{HOST}/course/*": lambda url: course(int(url.rpartition("/")[2]), menu),
        f"{HOST}/topic/*": lambda url: f"<title>{url}</title>{menu}<h1>Topic {url[-1]}</h1><p>Words.</p>",
    }
    step = found(Site(pages))
    assert step.configuration.levels[0].link_pattern == r"^https://a\.example/course/\d+$"


def test_a_root_that_is_one_course_is_a_single_detail_page():
    step = found(Site({f"{HOST}/course/*": lambda url: course(7)}), f"{HOST}/course/7")
    assert [level.page_type for level in step.configuration.levels] == [PageType.DETAIL]
    assert step.report.items.likely == 1


def test_pages_without_end_of_categories_are_given_up():
    def page(url: str) -> str:
        names = "".join(
            f'<li><a href="{url.rstrip("/")}/{w}">Category {w} of {len(url)}</a></li>' for w in "abcdefghij"
        )
        return f"<title>{url}</title><h1>Categories</h1><ul>{names}</ul><nav class=pagination><a href='?page=2'>2</a></nav>"

    step = walked(Site({f"{HOST}/*": page}), f"{HOST}/all")
    assert isinstance(step, Hopeless)
    assert "levels of lists" in step.reason


def test_a_page_with_nothing_to_follow_says_so():
    step = walked(Site({COURSES: "<title>x</title><h1>No courses found</h1>"}), COURSES)
    assert isinstance(step, Hopeless | Unclear)


def test_data_at_the_root_is_an_api():
    items = [
        {"name": f"Course {at}", "courseCode": f"C-{at}", "code": f"C-{at}", "credits": at}
        for at in range(20)
    ]

    def answer(url: str) -> bytes:
        at = int(url.partition("page=")[2] or 1)
        return orjson.dumps({"data": {"courses": items[(at - 1) * 5 : at * 5]}, "total": 20})

    site = Site({f"{HOST}/api/courses?page=*": answer})
    step = found(site, f"{HOST}/api/courses?page=1")
    definition = step.configuration.api.definition
    assert definition["answer"]["rows"] == "data.courses"
    assert definition["answer"]["fields"]["code"] == "code"
    assert definition["paging"] == {"kind": "page", "first": 1, "size": 5}
    assert step.report.items.likely == 20


def test_what_a_person_has_decided_is_obeyed():
    given = Configuration((Level(PageType.DETAIL),))
    step = found(Site(numbered(47)), given=given)
    assert step.configuration.levels == given.levels


def test_a_model_is_asked_only_where_rules_are_not_certain():
    site = Site(numbered(47))
    assert found(site, can_ask=True).made_by == "rules"
    vague = {
        COURSES: "<title>Courses</title><h1>Courses</h1><p>Here.</p><a href='/course/1'>One</a> <a href='/course/2'>Two</a>"
    }
    step = found(
        Site(numbered(2) | vague),
        can_ask=True,
        opinions={
            f"page_type:{COURSES}": Asked("page_type", "DETAIL_LINKS", (), 3, agreed=True),
            f"links:{COURSES}": Asked(
                "links", None, (f"{HOST}/course/1", f"{HOST}/course/2"), 3, agreed=True
            ),
        },
    )
    assert step.made_by == "model"
    assert step.configuration.levels[0].page_type is PageType.DETAIL_LINKS


@pytest.mark.promise(15)
def test_a_page_of_a_hundred_thousand_links_is_looked_at_in_bounded_time():
    many = "".join(f'<li><a href="/course/{at}">Course {at}</a></li>' for at in range(100_000))
    script = "".join(f'<a href="javascript:go({at})">x</a>' for at in range(1_000))
    start = time.process_time()
    step = found(Site(numbered(9) | {COURSES: f"<h1>Courses</h1><ul>{many}</ul>{script}"}))
    assert step.configuration.levels[0].link_pattern == r"^https://a\.example/course/\d+$"
    assert time.process_time() - start < 60
