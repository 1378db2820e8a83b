"""Charts say what they show, stay within their frame, and carry no text that could be anything but text."""

from io import BytesIO
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from thresher.apps.prices.charts.axes import day_steps, round_steps
from thresher.apps.prices.charts.chart import HEIGHT, MAX_DOTS, WIDTH, BandAt, Dot, price_chart
from thresher.apps.prices.charts.drawing import Area, Drawing, Line, Mark, Words
from thresher.apps.prices.charts.png import SCALE, png
from thresher.apps.prices.charts.svg import svg
from thresher.apps.prices.model import PriceType
from thresher.core.clock import DAY

NOW = 1_790_000_000_000_000
HOSTILE = '</title><script>alert(1)</script>\x1b[31m\x00& "quotes"'

times = st.integers(NOW - 3_000 * DAY, NOW)
amounts = st.integers(0, 10**13)
dots = st.builds(Dot, times, amounts, st.sampled_from(PriceType), st.booleans(), st.just("a price"))


@st.composite
def bands(draw: st.DrawFn) -> BandAt:
    low, median, high = sorted(draw(st.tuples(amounts, amounts, amounts)))
    return BandAt(draw(times), low, median, high)


def drawn(*dots: Dot, bands: tuple[BandAt, ...] = (), name: str = "Morgan") -> Drawing:
    made = price_chart(name, "USD", dots, bands, NOW)
    assert made is not None
    return made


def test_nothing_is_drawn_of_nothing() -> None:
    assert price_chart("Morgan", "USD", [], [], NOW) is None


def test_a_chart_says_what_it_shows() -> None:
    sold = Dot(NOW, 5_000, PriceType.SOLD, True, "50.00 USD")
    other = Dot(NOW, 5_000, PriceType.ASK, False, "another year")
    assert drawn(sold, other).says == "Morgan: 1 price that counts and 1 that does not; no valuation yet"
    valued = drawn(sold, bands=(BandAt(NOW - DAY, 4_000, 5_000, 6_050),))
    assert valued.says.endswith("the valuation is 50.00 USD, from 40.00 USD to 60.50 USD")


def test_each_kind_of_price_has_a_mark_of_its_own_and_one_that_does_not_count_a_cross() -> None:
    kinds = [Dot(NOW, 100, each, True, each.value) for each in PriceType]
    made = drawn(*kinds, Dot(NOW, 100, PriceType.SOLD, False, "another grade"))
    marks = {each.says: each.shape for each in made.shapes if isinstance(each, Mark)}
    assert marks["sold"] == "dot"
    assert marks["ask"] == "ring"
    assert marks["bid"] == "triangle"
    assert marks["another grade"] == "cross"


def test_a_price_that_does_not_count_never_makes_those_that_do_small() -> None:
    counts = [Dot(NOW - day * DAY, 5_000 + day, PriceType.SOLD, True, "sold") for day in range(20)]
    far = Dot(NOW, 990_000, PriceType.ASK, False, "another grade")
    assert "and 1 that does not" in drawn(*counts, far).says
    assert [each for each in drawn(*counts, far).shapes if isinstance(each, Words)] == [
        each for each in drawn(*counts).shapes if isinstance(each, Words)
    ]


def test_the_last_valuation_holds_until_now() -> None:
    made = drawn(bands=(BandAt(NOW - 10 * DAY, 1, 2, 3), BandAt(NOW - 5 * DAY, 2, 3, 4)))
    (median,) = (
        each for each in made.shapes if isinstance(each, Line) and each.width > 1 and each.points[0][1] > 20
    )
    rightmost = max(x for x, _ in median.points)
    assert rightmost > WIDTH * 0.9


@given(st.lists(dots, max_size=30), st.lists(bands(), max_size=8))
def test_everything_stays_within_the_frame(dots: list[Dot], bands: list[BandAt]) -> None:
    made = price_chart("Morgan", "USD", dots, sorted(bands, key=lambda band: band.at), NOW)
    for shape in made.shapes if made else ():
        match shape:
            case Line() | Area():
                places = shape.points
            case Mark() | Words():
                places = (shape.at,)
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)


@given(times, st.integers(0, 20_000 * DAY))
def test_the_axis_of_time_names_few_days_in_their_order(low: int, length: int) -> None:
    found = [at for at, _ in day_steps(low, low + length, 6)]
    assert found == sorted(set(found))
    assert len(found) <= 14


@given(amounts, amounts)
def test_the_axis_of_amounts_covers_them_all_in_even_steps(one: int, two: int) -> None:
    low, high = sorted((one, two))
    found = round_steps(low, high, 5)
    assert found[0] <= low <= high <= found[-1]
    assert len({after - before for before, after in pairwise(found)}) == 1
    assert len(found) <= 8


@pytest.mark.promise(17)
@pytest.mark.parametrize("standalone", [True, False])
def test_a_hostile_title_is_text_and_nothing_else(standalone: bool) -> None:
    written = svg(drawn(Dot(NOW, 1, PriceType.ASK, True, HOSTILE), name=HOSTILE), standalone=standalone)
    tree = ET.fromstring(written)
    assert {each.tag.rpartition("}")[2] for each in tree.iter()} <= {
        *("svg", "title", "style", "polyline", "polygon", "circle", "path", "text"),
    }
    assert "\x1b" not in written
    written.encode()


@pytest.mark.promise(18)
def test_a_chart_of_a_million_prices_draws_the_last_ones() -> None:
    many = [Dot(NOW - 1_000_000 + at, 5, PriceType.SOLD, True, str(at)) for at in range(10_000)]
    marks = [each for each in drawn(*many).shapes if isinstance(each, Mark)]
    assert len(marks) == MAX_DOTS + 1  # and the one of the legend
    assert marks[0].says == str(10_000 - MAX_DOTS)


def test_a_png_has_the_size_of_the_drawing_and_shows_something() -> None:
    some = [Dot(NOW - day * DAY, 1_000 + day * 37, PriceType.SOLD, day % 3 > 0, HOSTILE) for day in range(40)]
    made = Image.open(BytesIO(png(drawn(*some, bands=(BandAt(NOW - 9 * DAY, 900, 1_500, 2_400),)))))
    assert made.size == (WIDTH * SCALE, HEIGHT * SCALE)
    colours = made.convert("RGB").getcolors(1_000_000)
    assert colours is not None
    assert len(colours) > 3
