"""What a browser is to do is checked when it is written down, long before a browser starts."""

import pickle

import pytest

from thresher import Click, Collect, Rendering, UsageError, Wait

GOOD = [
    "button.more",
    "a[href*='(']",
    'button:has-text("Load (more]")',
    r"#a\[b",
    "li:not(.x):nth-child(2n + 1) > a",
]
BAD = ["", "  ", None, 7, "li[", "a)", "a[x='y]", "a([)]", "x" * 1_001, "a\nb", "a\x00"]


@pytest.mark.parametrize("selector", GOOD)
def test_a_selector_may_use_all_of_css(selector: str):
    Rendering(wait_for=selector, steps=(Click(selector), Wait(selector)), collect=Collect(selector))


@pytest.mark.parametrize("selector", BAD, ids=repr)
@pytest.mark.parametrize("use", [Click, Collect, Wait, lambda selector: Rendering(wait_for=selector)])
def test_what_is_plainly_no_selector_is_named(use, selector):
    if selector is None and use not in (Click, Collect, Wait):
        return  # no selector to wait for is what a rendering has by itself
    if selector == 7 and use is Wait:
        return  # seconds
    with pytest.raises(UsageError, match=r"selector|must be a number"):
        use(selector)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Click("a", repeat=0),
        lambda: Click("a", repeat=1_001),
        lambda: Click("a", wait=-1),
        lambda: Click("a", wait=float("nan")),
        lambda: Collect("a", limit=10_001),
        lambda: Collect("a", limit=True),
        lambda: Wait(601),
        lambda: Rendering(seconds=3_601),
    ],
)
def test_a_number_out_of_its_bounds_is_named_with_them(make):
    with pytest.raises(UsageError, match=r"must be a number from [\d.]+ to [\d,]+"):
        make()


def test_what_is_no_step_is_named():
    with pytest.raises(UsageError, match="'button' is no step"):
        Rendering(steps=("button",))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="must be a tuple"):
        Rendering(steps=[Click("a")])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at most 100"):
        Rendering(steps=(Wait(1),) * 101)
    with pytest.raises(UsageError, match="Collect"):
        Rendering(collect="a")  # type: ignore[arg-type]


def test_a_picture_shows_images_and_fonts_unless_they_are_blocked_by_name():
    assert Rendering().blocked == {"image", "media", "font"}
    assert Rendering(screenshot=True).blocked == {"media"}
    assert Rendering(screenshot=True, block=("image",)).blocked == {"image"}


def test_only_a_page_without_picture_and_addresses_can_be_kept():
    assert Rendering(steps=(Click("a"),)).is_keepable
    assert not Rendering(screenshot=True).is_keepable
    assert not Rendering(collect=Collect("a")).is_keepable


def test_two_renderings_are_told_apart_and_the_default_is_the_plain_one():
    made = [
        Rendering(wait_for="a"),
        Rendering(steps=(Click("a"),)),
        Rendering(steps=(Click("a", repeat=2),)),
        Rendering(steps=(Wait("a"),)),
        Rendering(block=("script",)),
        Rendering(idle=False),
    ]
    assert len({each.variant for each in made}) == len(made)
    assert Rendering().variant == ""


def test_a_rendering_travels_between_processes():
    made = Rendering(steps=(Click("a"), Wait(2.5)), collect=Collect("b"))
    assert pickle.loads(pickle.dumps(made)) == made
