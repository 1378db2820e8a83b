"""Recipes as people write them: read with every mistake named, and written so that they read back equal."""

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.extractions.test_entities import LAMP, entities
from thresher.apps.extractions.entities import entity_types
from thresher.apps.extractions.model import (
    ApiSource,
    Configuration,
    Entity,
    Level,
    Limits,
    PageSetup,
    PageType,
    Pagination,
    PagingKind,
)
from thresher.apps.extractions.recipe_file import (
    MAX_PATTERN,
    RecipeSpec,
    checked_name,
    configuration_said,
    read_configuration_json,
    read_recipe_json,
    read_recipe_text,
    recipe_text,
)
from thresher.core.errors import ConfigError
from thresher.core.stored import read, written

URL = "https://catalog.example.edu/courses"
FILE = """url: https://catalog.example.edu/courses
entity: course
configuration:
  page_type: CATEGORY_LINKS
  link_pattern: /subjects/[a-z]+$
  links:
    page_type: DETAIL_LINKS
    link_pattern: /courses/\\d+
    exact_link_match: true
    pagination: {kind: offset, url_pattern: "?start={offset}", start_page: 0, page_size: 20, total_pages: 9}
    click_selector: tr.row
    click_limit: 40
    render: auto
    links:
      page_type: DETAIL
      content_selector: main .course
      setup:
        - wait_for: "#body"
        - click: button.expand
          optional: true
        - wait: 1.5
      screenshot: true
      several: true
      explore: true
limits: {pages: 5000, depth: 2, budget: 5, hours: 4, rate: 30/m}
"""
DETAIL = "\nconfiguration:\n  page_type: DETAIL\n"
HEAD = f"url: {URL}\nentity: course\nconfiguration:\n"


def refused(text: str, folder: Path | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        read_recipe_text(text, "acme.yaml", folder)
    return str(caught.value)


def test_every_key_of_a_recipe_is_read():
    spec = read_recipe_text(FILE)
    assert (spec.url, spec.entity) == (URL, entity_types()["course"].entity)
    assert spec.limits == Limits(5_000, 2, 5.0, 4.0, "30/m")
    assert spec.configuration == Configuration(
        (
            Level(PageType.CATEGORY_LINKS, "/subjects/[a-z]+$"),
            Level(
                PageType.DETAIL_LINKS,
                r"/courses/\d+",
                True,
                Pagination(PagingKind.OFFSET, "?start={offset}", 0, 20, 9),
                click_selector="tr.row",
                click_limit=40,
                render=None,
            ),
            Level(
                PageType.DETAIL,
                content_selector="main .course",
                setup=(
                    PageSetup(wait_for="#body"),
                    PageSetup(click="button.expand", optional=True),
                    PageSetup(wait=1.5),
                ),
                screenshot=True,
                several=True,
                explore=True,
            ),
        )
    )


def test_a_recipe_without_a_configuration_is_to_be_detected():
    spec = read_recipe_text("url: https://a.example/x?b=2&a=1#part\nentity: {name: product, key: [sku]}\n")
    assert (spec.url, spec.configuration, spec.limits) == ("https://a.example/x?b=2&a=1#part", None, Limits())
    assert spec.entity.schema.key == ("sku",)


def test_an_api_stands_in_place_of_pages():
    said = "  api: {vendor: coursedog, parameters: {school: acme}}\n"
    assert read_recipe_text(HEAD + said).configuration == Configuration(
        api=ApiSource("coursedog", {"school": "acme"})
    )
    assert read_recipe_text(HEAD + "  page_type: API\n" + said) == read_recipe_text(HEAD + said)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- a", "is not a mapping"),
        ("entity: course", "has no url"),
        ("url: ftp://a.example/\nentity: course", "only http and https"),
        ("url: a.example\nentity: course", "line 1: url: 'a.example' is not a URL"),
        ("url: https://u:p@a.example/\nentity: course", "it holds no secrets"),
        (f"url: {URL}", "has no entity"),
        (f"url: {URL}\nentity: lamps", "line 2: entity: 'lamps' is not an entity type"),
        (f"url: {URL}\nentity: course\nname: x", "line 3: name: name is not a known key"),
        (f"url: {URL}\nentity: course\nlimits: {{pages: 0}}", "line 3: limits.pages: 0 is wrong"),
        (f"url: {URL}\nentity: course\nlimits: {{budget: .nan}}", "limits.budget: nan is wrong"),
        (
            f"url: {URL}\nentity: course\nlimits: {{rate: fast}}",
            "limits.rate: a rate must be a number per second",
        ),
        (f"url: {URL}\nentity: course\nlimits: {{rate: 0}}", "limits.rate: a rate must be above 0"),
        (
            f"url: {URL}\nentity: course\nlimits: {{rate: 1/y}}",
            "limits.rate: a rate must be a number per second",
        ),
        (f"url: {URL}\nentity: course\nlimits: {{rate: [2]}}", "limits.rate: [2] is wrong"),
        (f"url: {URL}\nentity: course\nlimits: {{hours: true}}", "limits.hours: True is wrong"),
        (f"url: {URL}\nentity: course\nlimits: {{depth: 9}}", "from 0 to 8"),
        (
            HEAD + "  page_type: LIST",
            "line 4: configuration.page_type: page_type is 'LIST'; write one of DETAIL",
        ),
        (HEAD + "  link_pattern: a", "configuration.page_type"),
        (HEAD + "  page_type: DETAIL\n  link_pattern: a", "line 5: configuration.link_pattern: is of no use"),
        (HEAD + "  page_type: DETAIL_LINKS", "nothing stands below it; write links: {page_type: DETAIL}"),
        (
            HEAD
            + "  page_type: DETAIL_LINKS\n  links: {page_type: DETAIL_LINKS, links: {page_type: DETAIL}}",
            "DETAIL_LINKS stands below it",
        ),
        (HEAD + "  page_type: CATEGORY_LINKS\n  links: {page_type: DETAIL}", "DETAIL stands below it"),
        (
            HEAD + "  page_type: DETAIL\n  links: {page_type: DETAIL}",
            "line 5: configuration.links: stands below DETAIL",
        ),
        (HEAD + "  page_type: EXPLORATORY\n  links: {page_type: DETAIL}", "stands below EXPLORATORY"),
        (
            HEAD + "  page_type: DETAIL_LINKS\n  links: {page_type: API, api: {vendor: x}}",
            "an API stands alone",
        ),
        (HEAD + "  page_type: DETAIL\n  api: {vendor: x}", "an API stands alone"),
        (HEAD + "  page_type: API", "is not a mapping"),
        (HEAD + "  api: {vendor: x, definition: {}}", "either a vendor"),
        (HEAD + "  api: {vendor: x, parameters: {api_key: k}}", "looks like a secret"),
        (
            HEAD + "  api: {definition: {request: {headers: {Authorization: Bearer abc}}}}",
            "looks like a secret",
        ),
        (HEAD + "  api: {definition: {since: 2026-01-01, x: !!binary aGk=}}", "cannot be stored"),
        (HEAD + "  page_type: DETAIL\n  exact_link_match: true", "needs a link_pattern"),
        (HEAD + "  page_type: DETAIL\n  click_selector: a", "is of no use on DETAIL"),
        (HEAD + "  page_type: DETAIL\n  click_limit: 3", "needs a click_selector"),
        (HEAD + "  page_type: DETAIL\n  content_selector: 'a['", "is not a CSS selector"),
        (HEAD + "  page_type: DETAIL\n  content_selector: 'a@href'", "is not a CSS selector"),
        (HEAD + "  page_type: DETAIL\n  content_selector: ''", "must have 1 to 500"),
        (HEAD + "  page_type: DETAIL\n  render: maybe", "write true, false or auto"),
        (HEAD + "  page_type: DETAIL\n  render: false\n  screenshot: true", "screenshot needs a browser"),
        (
            HEAD + "  page_type: DETAIL\n  setup: [{click: a, wait: 1}]",
            "line 5: configuration.setup[0]: must be one of",
        ),
        (HEAD + "  page_type: DETAIL\n  setup: [{wait: 0}]", "more than 0 and at most 120"),
        (HEAD + "  page_type: DETAIL\n  setup: [{wait: .inf}]", "more than 0 and at most 120"),
        (HEAD + "  page_type: DETAIL\n  setup: [{wait: 1, optional: true}]", "is for click and wait_for"),
        (HEAD + "  page_type: DETAIL\n  several: yes please", "write true or false"),
        (
            HEAD + "  page_type: DETAIL_LINKS\n  several: true\n  links: {page_type: DETAIL}",
            "pages hold links",
        ),
        (HEAD + "  page_type: DETAIL\n  pagination: {kind: pages}", "write one of page_num, offset"),
        (HEAD + "  page_type: DETAIL\n  pagination: {kind: page_num}", "has no url_pattern"),
        (
            HEAD + "  page_type: DETAIL\n  pagination: {kind: page_num, url_pattern: '?p=1'}",
            "must have {page_num} in it",
        ),
        (
            HEAD + "  page_type: DETAIL\n  pagination: {kind: page_num, url_pattern: '?p={offset}'}",
            "must have {page_num} in it",
        ),
        (
            HEAD + "  page_type: DETAIL\n  pagination: {kind: page_num, url_pattern: '/{x}?p={page_num}'}",
            "no other braces",
        ),
        (
            HEAD + "  page_type: DETAIL\n  pagination: {kind: offset, url_pattern: '?p={offset}'}",
            "has no page_size",
        ),
        (
            HEAD + "  page_type: DETAIL\n  pagination: {kind: next_link, total_pages: 3}",
            "is for page_num and offset",
        ),
        (
            HEAD + "  page_type: DETAIL\n  pagination: {kind: cursor, url_pattern: '?c={cursor}'}",
            "says itself where",
        ),
        (HEAD + "  page_type: DETAIL\n  pagination: {kind: load_more}", "write what is clicked for more"),
        (HEAD + "  page_type: DETAIL\n  pagination: {kind: next_link, selector: a}", "is for load_more"),
        (
            HEAD + "  page_type: DETAIL\n  pagination: {kind: load_more, selector: a, clicks: 99999}",
            "from 1 to 10,000",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_to_write(text, says):
    told = refused(text)
    assert told.startswith("acme.yaml")
    assert says in told


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "pattern",
    [
        "https://evil.example/?p={page_num}",
        "//evil.example/{page_num}",
        "https://catalog.example.edu.evil.example/{page_num}",
        "https://catalog.example.edu:8443/{page_num}",
        "http://catalog.example.edu/{page_num}",
        "https://{page_num}.example.edu/",
        "https://catalog.example.edu:{page_num}/",
        "https://me:{page_num}@catalog.example.edu/",
        "javascript:{page_num}",
        "/\\evil.example/{page_num}",
    ],
)
def test_a_list_never_goes_on_at_another_origin(pattern):
    said = json.dumps({"kind": "page_num", "url_pattern": pattern})
    told = refused(f"{HEAD}  page_type: DETAIL\n  pagination: {said}")
    assert "leads away from" in told or "holds no secrets" in told


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("?page={page_num}", "?page={page_num}"),
        ("{url}?page={page_num}", "{url}?page={page_num}"),
        ("{url}/page/{page_num}", "{url}/page/{page_num}"),
        ("/courses/page/{page_num}/", "https://catalog.example.edu/courses/page/{page_num}/"),
        ("page-{page_num}.html", "https://catalog.example.edu/page-{page_num}.html"),
        ("https://catalog.example.edu/c?p={page_num}", "https://catalog.example.edu/c?p={page_num}"),
    ],
)
def test_the_address_of_a_page_is_kept_whole_or_as_a_part_of_its_list(written, kept):
    said = json.dumps({"kind": "page_num", "url_pattern": written})
    configuration = read_recipe_text(f"{HEAD}  page_type: DETAIL\n  pagination: {said}").configuration
    assert configuration is not None
    assert configuration.levels[0].pagination == Pagination(PagingKind.PAGE_NUM, kept)


@pytest.mark.parametrize("pattern", ["{url}{page_num}", "{url}.evil.example/{page_num}", "{url}?p=1"])
def test_a_list_is_only_added_to(pattern):
    said = json.dumps({"kind": "page_num", "url_pattern": pattern})
    assert "{page_num} in it" in (told := refused(f"{HEAD}  page_type: DETAIL\n  pagination: {said}")) or (
        "must go on with ? or /" in told
    )


def test_levels_end_somewhere():
    level: dict[str, object] = {"page_type": "DETAIL_LINKS", "links": {"page_type": "DETAIL"}}
    for _ in range(3):
        level = {"page_type": "CATEGORY_LINKS", "links": level}
    assert len(read_configuration_json(level, URL).levels) == 5
    with pytest.raises(ConfigError, match="is level 6; a recipe has at most 5 levels"):
        read_configuration_json({"page_type": "CATEGORY_LINKS", "links": level}, URL)


# Hostile input


@pytest.mark.promise(18)
def test_a_yaml_bomb_is_refused_before_it_grows():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join(f'*{before}' for _ in range(10))}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    started = time.process_time()
    assert "longer than 100,000 values" in refused(bomb)
    assert "nested deeper than 50" in refused("[" * 10_000)
    assert "is longer than 200,000 characters" in refused("a" * 200_001)
    assert "not YAML" in refused("a: !!python/object/apply:os.system [id]")
    assert time.process_time() - started < 5


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "pattern", ["a" * (MAX_PATTERN + 1), "(" * 499, "[", "*a", "a{99999999999999999999}", "(?P<x", "a\nb", ""]
)
def test_a_pattern_that_is_none_or_too_long_is_refused(pattern):
    with pytest.raises(ConfigError, match="link_pattern: "):
        read_configuration_json(
            {"page_type": "DETAIL_LINKS", "link_pattern": pattern, "links": {"page_type": "DETAIL"}}, URL
        )


@pytest.mark.promise(18)
@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"(.*a){20}", r"(\w+\s?)*$", r"(?:a?){50}a{50}"])
def test_a_pattern_that_never_ends_is_read_without_being_run(pattern):
    """Nobody can tell by its text. It is compiled here, and run only where it can be killed."""
    url = f"https://a.example/{'a' * 2_000}!"
    said = {"page_type": "DETAIL_LINKS", "link_pattern": pattern, "links": {"page_type": "DETAIL"}}
    started = time.process_time()
    spec = read_recipe_json({"url": url, "entity": "course", "configuration": said})
    assert spec.configuration is not None
    assert read_recipe_text(recipe_text(spec)) == spec
    assert time.process_time() - started < 2


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "url",
                        "entity",
                        "configuration",
                        "limits",
                        "page_type",
                        "pageType",
                        "links",
                        "pagination",
                        "setup",
                        "pageSetup",
                        "steps",
                        "type",
                        "clickOptions",
                        "apiConfig",
                        "apiProvider",
                        "api",
                        "definition",
                        "parameters",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=15,
    )
)
def test_whatever_is_sent_is_a_recipe_or_a_mistake(said):
    for data in (said, {"url": URL, "entity": "course", "configuration": said}):
        with suppress(ConfigError):
            assert read_recipe_json(data).url


# The schema in a file beside it


def test_a_schema_may_stand_in_a_file(tmp_path):
    (tmp_path / "lamp.json").write_text(json.dumps(LAMP, indent="\t"))
    (tmp_path / "lamp.yaml").write_text(yaml.safe_dump(LAMP, sort_keys=False))
    made = [
        read_recipe_text(f"url: {URL}\nentity: {{schema: {name}}}\n", "a.yaml", tmp_path)
        for name in ("lamp.json", "lamp.yaml")
    ]
    assert made[0] == made[1]
    assert made[0].entity.name == "lamp"


@pytest.mark.promise(17)
def test_a_file_elsewhere_is_not_read(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "lamp.json").write_text(json.dumps(LAMP))
    (tmp_path / "inside" / "link.json").symlink_to(tmp_path / "lamp.json")
    for name in ("../lamp.json", str(tmp_path / "lamp.json"), "link.json"):
        told = refused(f"url: {URL}\nentity: {{schema: {name}}}\n", tmp_path / "inside")
        assert "is outside of the folder" in told
    assert "cannot be read" in refused(f"url: {URL}\nentity: {{schema: none.json}}\n", tmp_path)
    assert "write the JSON Schema itself" in refused(f"url: {URL}\nentity: {{schema: lamp.json}}\n")
    (tmp_path / "broken.json").write_text("{")
    assert "is not a JSON Schema" in refused(f"url: {URL}\nentity: {{schema: broken.json}}\n", tmp_path)


# The spelling of the first system


def test_the_names_of_the_first_system_are_understood():
    spec = read_recipe_json(
        {
            "url": URL,
            "entity": "COURSES",
            "configuration": {
                "pageType": "DETAIL_LINKS",
                "linkRegexp": r"/courses/\d+",
                "exactLinkPatternMatch": True,
                "clickSelector": "tr",
                "clickOptions": {"limit": 300},
                "pageLoadWaitTime": 3,
                "pagination": {
                    "urlPatternType": "page_num",
                    "urlPattern": "?p={page_num}",
                    "startPage": 0,
                    "totalPages": 12,
                },
                "links": {
                    "pageType": "DETAIL",
                    "contentSelector": "main",
                    "pageSetup": {
                        "enabled": True,
                        "steps": [{"type": "click", "selector": ".more"}, {"type": "wait", "waitMs": 500}],
                    },
                },
            },
        }
    )
    assert spec.configuration == Configuration(
        (
            Level(
                PageType.DETAIL_LINKS,
                r"/courses/\d+",
                True,
                Pagination(PagingKind.PAGE_NUM, "?p={page_num}", 0, total_pages=12),
                click_selector="tr",
                click_limit=300,
                setup=(PageSetup(wait=3.0),),
            ),
            Level(
                PageType.DETAIL,
                content_selector="main",
                setup=(PageSetup(click=".more"), PageSetup(wait=0.5)),
            ),
        )
    )


def test_an_api_of_the_first_system_is_understood():
    said = {
        "pageType": "API_REQUEST",
        "apiProvider": "Coursedog",
        "apiConfig": {"schoolId": "acme", "catalogIds": ["a", "b"]},
    }
    assert read_configuration_json(said, URL).api == ApiSource(
        "coursedog", {"school": "acme", "catalogs": "a,b"}
    )


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"pageType": "DETAIL", "page_type": "DETAIL"}, "write it once"),
        ({"pageType": "DETAIL", "clickOptions": {"waitMs": 3}}, "is not needed"),
        ({"pageType": "DETAIL", "pageSetup": {"steps": [{"type": "scroll"}]}}, "must be {type: click"),
        ({"pageType": "DETAIL", "pageSetup": 3}, "is not a mapping"),
        ({"apiProvider": "x", "apiConfig": 3}, "is not a mapping"),
        ({"pagetype": "DETAIL"}, "pagetype is not a known key"),
    ],
)
def test_a_mistake_in_that_spelling_is_named_too(said, says):
    with pytest.raises(ConfigError) as caught:
        read_configuration_json(said, URL)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["acme", "acme-courses.2", "a" * 80])
def test_a_recipe_has_a_plain_name(name):
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "Acme", "1", "a b", "a/b", "../a", "a" * 81, "å", "a\n", "-a"])
def test_other_names_are_refused(name):
    with pytest.raises(ConfigError, match="is not a name for a recipe"):
        checked_name(name)


# Written and read back

SELECTORS = st.sampled_from(["main", ".course > h2", "a[href^='/c']", "#x, div.y"])
PATTERNS = st.sampled_from(
    [r"/courses/\d+$", "a|b", r"[?&]id=(\w+)", "ü: # -", "'\"", "yes", "2026-01-01", " "]
)
COUNTS = st.integers(1, 10_000)
STEPS = st.one_of(
    st.builds(PageSetup, click=SELECTORS, optional=st.booleans()),
    st.builds(PageSetup, wait_for=SELECTORS, optional=st.booleans()),
    st.builds(PageSetup, wait=st.floats(0.01, 120)),
)
PAGINATIONS = st.one_of(
    st.builds(
        Pagination,
        st.just(PagingKind.PAGE_NUM),
        st.sampled_from(
            ["{url}?p={page_num}", "{url}/l/{page_num}/", "https://catalog.example.edu/{page_num}"]
        ),
        st.integers(0, 5),
        st.none() | COUNTS,
        st.none() | COUNTS,
    ),
    st.builds(Pagination, st.just(PagingKind.OFFSET), st.just("{url}?o={offset}"), st.integers(0, 5), COUNTS),
    st.builds(Pagination, st.sampled_from([PagingKind.NEXT_LINK, PagingKind.CURSOR])),
    st.builds(Pagination, st.just(PagingKind.LOAD_MORE), selector=SELECTORS, clicks=COUNTS),
)


@st.composite
def levels(draw: st.DrawFn, type_: PageType) -> Level:
    reads = type_.holds_data
    explores = reads and draw(st.booleans())
    may_follow = not reads or explores or type_ is PageType.EXPLORATORY
    pattern = draw(st.none() | PATTERNS) if may_follow else None
    clicked = draw(st.none() | SELECTORS) if not reads else None
    return Level(
        type_,
        pattern,
        bool(pattern) and draw(st.booleans()),
        draw(st.none() | PAGINATIONS),
        draw(st.none() | SELECTORS),
        clicked,
        draw(st.none() | COUNTS) if clicked else None,
        tuple(draw(st.lists(STEPS, max_size=3))),
        draw(st.sampled_from([None, True, False])),
        draw(st.booleans()),
        reads and draw(st.booleans()),
        explores,
    )


COURSE = entity_types()["course"].entity


@st.composite
def apis(draw: st.DrawFn, entity: Entity) -> ApiSource:
    if entity.name == "course" and draw(st.booleans()):
        wanted = {"school": st.sampled_from(["acme", "a_b.c"])}
        return ApiSource(
            "coursedog", draw(st.fixed_dictionaries(wanted, optional={"catalogs": st.just("a,b")}))
        )
    fields = {
        each.name: draw(st.sampled_from(["a", ["b", "c.d"], {"all": ["e"]}])) for each in entity.schema.fields
    }
    definition = {
        "request": {"url": "https://a.example/{page}", "query": {"n": "{size}", "q": 1}},
        "paging": {"kind": "page", "size": draw(COUNTS)},
        "answer": {"rows": draw(st.sampled_from(["", "items"])), "fields": fields},
    }
    return ApiSource(definition=definition)


@st.composite
def configurations(draw: st.DrawFn, entity: Entity = COURSE) -> Configuration:
    match draw(st.integers(1, 4)):
        case 1:
            return Configuration(api=draw(apis(entity)))
        case 2:
            types = [draw(st.sampled_from([PageType.DETAIL, PageType.EXPLORATORY]))]
        case above:
            types = [*[PageType.CATEGORY_LINKS] * (above - 2), PageType.DETAIL_LINKS, PageType.DETAIL]
    return Configuration(tuple(draw(levels(each)) for each in types))


@st.composite
def specs(draw: st.DrawFn) -> RecipeSpec:
    entity = draw(st.sampled_from([each.entity for each in entity_types().values()]) | entities())
    return RecipeSpec(
        draw(
            st.sampled_from([URL, "https://catalog.example.edu/", "https://catalog.example.edu/?a=%20b&c#d"])
        ),
        entity,
        draw(st.none() | configurations(entity)),
        draw(LIMITS),
    )


LIMITS = st.builds(
    Limits,
    st.none() | COUNTS,
    st.none() | st.integers(0, 8),
    st.none() | st.floats(0, 1_000_000),
    st.none() | st.floats(0.01, 10_000),
    st.none() | st.sampled_from(["2", "0.5", "30/m", "500/hour"]),
)


@given(specs())
def test_a_recipe_is_read_back_as_it_was_written(spec):
    assert read_recipe_text(recipe_text(spec)) == spec


@given(configurations())
def test_a_configuration_is_stored_and_read_back_as_it_was(configuration):
    assert read(Configuration, json.loads(json.dumps(written(configuration)))) == configuration
    assert read_configuration_json(configuration_said(configuration), URL) == configuration
