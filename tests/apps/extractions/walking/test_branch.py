"""Where the walk goes from a page."""

from thresher.apps.extractions.model import (
    Configuration,
    ExtractionPage,
    Level,
    PageType,
    Pagination,
    PagingKind,
    StepKind,
    page_name,
)
from thresher.apps.extractions.walking.branch import ListState, branch, explored
from thresher.apps.extractions.walking.facts import PageFacts

ROOT = "https://acme.example/courses"
ITEMS = tuple(f"https://acme.example/course/{number}" for number in range(3))
NUMBERED = Pagination(url_pattern="?page={page_num}")


def site(pagination: Pagination | None = None) -> Configuration:
    return Configuration((Level(PageType.DETAIL_LINKS, pagination=pagination), Level(PageType.DETAIL)))


def page(number: int | None = None, url: str = ROOT) -> ExtractionPage:
    listed = page_name(ROOT) if number is not None else None
    return ExtractionPage(
        1, page_name(url), url, 0, 0, PageType.DETAIL_LINKS, number=number, list_page=listed
    )


def facts(links: tuple[str, ...] = ITEMS, **more: object) -> PageFacts:
    return PageFacts("", "acme.example/courses", links, **more)  # type: ignore[arg-type]


def test_the_first_page_of_a_numbered_list_brings_all_others_and_its_own_links():
    seen = facts(page_urls=(f"{ROOT}?page=2", f"{ROOT}?page=4"))
    found = branch(site(NUMBERED), page(), seen, ListState(ROOT))
    others = [each for each in found.pages if each.kind is StepKind.PAGINATION]
    links = [each for each in found.pages if each.kind is StepKind.LINKS]
    assert [each.url for each in others] == [f"{ROOT}?page={number}" for number in (2, 3, 4)]
    assert [each.url for each in links] == list(ITEMS)
    assert {each.level for each in others} == {0}
    assert {(each.level, each.page_type) for each in links} == {(1, PageType.DETAIL)}
    assert {each.step for each in others} == {1}
    assert {each.step for each in links} == {2}
    assert (found.follow, found.extract) == (None, False)


def test_a_page_in_the_middle_of_a_list_brings_its_links_alone():
    seen = facts(page_urls=(f"{ROOT}?page=9",))
    found = branch(site(NUMBERED), page(1, f"{ROOT}?page=2"), seen, ListState(ROOT, last=3))
    assert {each.kind for each in found.pages} == {StepKind.LINKS}


def test_the_last_known_page_brings_what_the_total_kept_quiet_about():
    seen = facts(page_urls=(f"{ROOT}?page=6",))
    found = branch(site(NUMBERED), page(3, f"{ROOT}?page=4"), seen, ListState(ROOT, last=3))
    assert [each.url for each in found.pages[:2]] == [f"{ROOT}?page=5", f"{ROOT}?page=6"]


def test_a_list_without_rows_goes_on_to_nothing():
    seen = facts((), page_urls=(f"{ROOT}?page=900",), next_url=f"{ROOT}?page=2")
    found = branch(site(NUMBERED), page(), seen, ListState(ROOT))
    assert (found.pages, found.follow) == ((), None)


def test_a_next_link_is_followed_one_page_after_the_other():
    seen = facts(next_url=f"{ROOT}?cursor=b7")
    found = branch(
        site(Pagination(PagingKind.NEXT_LINK)), page(2, f"{ROOT}?cursor=a1"), seen, ListState(ROOT, 2)
    )
    assert found.follow is not None
    assert (found.follow.url, found.follow.number) == (f"{ROOT}?cursor=b7", 3)
    assert found.follow.list_page == page_name(ROOT)


def test_where_nobody_says_how_many_pages_there_are_they_are_counted_on():
    found = branch(site(NUMBERED), page(1, f"{ROOT}?page=2"), facts(), ListState(ROOT, 1, counting=True))
    assert found.follow is not None
    assert found.follow.url == f"{ROOT}?page=3"


def test_a_page_with_few_rows_is_the_last_one():
    short = Pagination(url_pattern="?page={page_num}", page_size=20)
    assert branch(site(short), page(), facts(), ListState(ROOT)).follow is None


def test_a_list_that_has_said_how_long_it_is_is_not_counted_on():
    found = branch(site(NUMBERED), page(1, f"{ROOT}?page=2"), facts(), ListState(ROOT, 1))
    assert found.follow is None


def test_a_detail_page_is_read_and_leads_nowhere():
    detail = ExtractionPage(1, page_name(ITEMS[0]), ITEMS[0], 2, 1, PageType.DETAIL)
    found = branch(site(), detail, facts(()), ListState(ITEMS[0]))
    assert (found.pages, found.follow, found.extract) == ((), None, True)


def test_a_site_that_says_it_has_a_billion_pages_gets_no_billion_tasks():
    seen = facts(total=10**9, page_urls=())
    found = branch(site(NUMBERED), page(), seen, ListState(ROOT))
    assert len(found.pages) <= 100_000 + len(ITEMS)


def test_a_list_that_may_go_on_behind_its_last_possible_page_says_so():
    seen = facts(next_url=f"{ROOT}?page=100001")
    of = ListState(ROOT, last=99_999)
    paging = Pagination(PagingKind.NEXT_LINK)
    assert branch(site(paging), page(99_999), seen, of).left == 1
    assert branch(site(paging), page(99_998), seen, of).left == 0
    assert branch(site(paging), page(99_999), facts(()), of).left == 0


def test_exploration_ends_at_its_depth():
    detail = ExtractionPage(1, page_name(ITEMS[0]), ITEMS[0], 2, 1, PageType.DETAIL, explored=2)
    (only,) = explored(detail, ["https://acme.example/more"], 3)
    assert (only.kind, only.explored, only.level) == (StepKind.EXPLORATION, 3, 1)
    assert explored(detail, ["https://acme.example/more"], 2) == ()
