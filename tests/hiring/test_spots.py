"""Places of work, and words that look like them."""

import pytest

from thresher.hiring.gazetteer import cities_named, country_named, regions_named
from thresher.hiring.locations import MAX_SPOTS, read_spots

Places = list[tuple[str | None, str | None, str | None]]


def places(location: str) -> Places:
    return [(spot.city, spot.region, spot.country) for spot in read_spots(location)]


@pytest.mark.parametrize(
    ("location", "found"),
    [
        ("Portland, OR", [("Portland", "OR", "US")]),
        ("Portland, ME", [("Portland", "ME", "US")]),
        ("portland, or", [("Portland", "OR", "US")]),
        ("Portland, Oregon, United States", [("Portland", "OR", "US")]),
        ("Portland", [("Portland", None, "US")]),
        ("New York, NY; London, UK", [("New York", "NY", "US"), ("London", None, "GB")]),
        ("Portland, OR or Seattle, WA", [("Portland", "OR", "US"), ("Seattle", "WA", "US")]),
        ("US-SC-Prosperity", [("Prosperity", "SC", "US")]),
        ("CA-ON-Guelph", [("Guelph", "ON", "CA")]),
        ("Berlin (hybrid)", [("Berlin", "BE", "DE")]),
        ("Berlin, DE", [("Berlin", "BE", "DE")]),
        ("Wilmington, DE", [("Wilmington", "DE", "US")]),
        ("Pune, IN", [("Pune", "MH", "IN")]),
        ("Gary, IN", [("Gary", "IN", "US")]),
        ("Toronto, CA", [("Toronto", "ON", "CA")]),
        ("Los Angeles, CA", [("Los Angeles", "CA", "US")]),
        ("London, ON", [("London", "ON", "CA")]),
        ("Dublin", [("Dublin", None, "IE")]),
        ("Dublin, OH", [("Dublin", "OH", "US")]),
        ("Birmingham", [("Birmingham", None, None)]),  # England or Alabama
        ("Tbilisi, Georgia", [("Tbilisi", None, "GE")]),
        ("Georgia - Atlanta", [("Atlanta", "GA", "US")]),
        ("Buffalo, New York", [("Buffalo", "NY", "US")]),
        ("Rye, New York", [("Rye", "NY", "US")]),
        ("San Francisco, New York City", [("San Francisco", "CA", "US"), ("New York", "NY", "US")]),
        ("München", [("Munich", "BY", "DE")]),
        ("Stuttgart-Vaihingen", [("Stuttgart", "BW", "DE")]),
        ("Austin TX", [("Austin", "TX", "US")]),
        ("Austin, TX 78701", [("Austin", "TX", "US")]),
        ("Germany", [(None, None, "DE")]),
        ("Oregon", [(None, "OR", "US")]),
        ("Trinidad and Tobago", [(None, None, "TT")]),
        ("Greater Boston Area", [("Boston", "MA", "US")]),
        ("Washington, D.C.", [("Washington", "DC", "US")]),
        ("MT - Helena", [("Helena", None, None)]),  # Montana or Malta
        ("CH - Shanghai, China", [("Shanghai", None, "CN")]),
        ("Augusta, Kennebec County", [("Augusta", None, None)]),  # there is a larger one
        ("USA, CST (UTC-6)", [(None, None, "US")]),
        ("3 Locations", []),
        ("Multiple locations", []),
        ("CA", []),  # California or Canada
        ("Georgia", []),
        ("", []),
    ],
)
def test_a_location_is_taken_apart(location: str, found: Places):
    assert places(location) == found


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    "location", ["Portland or Leeds", "in Leeds or York", "work in Portland or elsewhere"]
)
def test_or_is_not_oregon_and_in_is_not_indiana(location: str):
    assert not any(spot.region in ("OR", "IN") for spot in read_spots(location))


@pytest.mark.parametrize(
    ("location", "country"),
    [
        ("Remote - US", "US"),
        ("US Remote", "US"),
        ("Remote in United States", "US"),
        ("Remote", None),
        ("Germany, Remote", "DE"),
        ("Anywhere", None),
    ],
)
def test_a_remote_spot_says_from_where(location: str, country: str | None):
    (spot,) = read_spots(location)
    assert (spot.remote, spot.country, spot.city) == (True, country, None)


def test_each_place_is_told_once_and_keeps_its_words():
    found = read_spots("Leeds; Leeds; York, UK")
    assert [spot.text for spot in found] == ["Leeds", "York, UK"]


def test_a_name_that_is_in_no_table_is_kept_as_a_city_where_a_country_stands_beside_it():
    assert places("Prosperity Falls, Canada") == [("Prosperity Falls", None, "CA")]


def test_many_places_are_bounded():
    assert (
        len(read_spots("; ".join(f"Town{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(500))))
        <= MAX_SPOTS
    )


def test_the_tables_hold_no_region_of_a_country_that_they_do_not_have():
    assert country_named("Norway") == "NO"
    assert [region.country for region in regions_named("Ontario")] == ["CA"]
    assert {city.region for city in cities_named("Portland")} == {"OR", "ME"}
