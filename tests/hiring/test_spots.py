"""Places of work, and words that look like them."""

import pytest

from thresher.hiring.locations import MAX_SPOTS, read_spots
from thresher.reading.values.gazetteer import cities_named, country_named, is_word, regions_named

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
        ("MT - Prosperity", [("Prosperity", None, None)]),  # Montana or Malta
        ("MT - Helena", [("Helena", "MT", "US")]),
        ("CH - Shanghai, China", [("Shanghai", None, "CN")]),
        ("Augusta, Kennebec County", [("Augusta", "ME", "US")]),  # there is a larger one
        ("Lansing, Ingham County", [("Lansing", "MI", "US")]),
        ("Avon, Stearns County", [("Avon", "MN", "US")]),
        ("Prosperity, Madison County", [("Prosperity", None, None)]),  # nineteen states have one
        ("Berkeley, Saint Louis County", [("Berkeley", None, None)]),  # Minnesota or Missouri
        ("Paris", [("Paris", None, "FR")]),
        ("Paris, TX", [("Paris", "TX", "US")]),
        ("Windsor, CA", [("Windsor", "ON", "CA")]),  # the one in California is far smaller
        ("Cartagena, CO", [("Cartagena", None, "CO")]),
        ("Cambridge", [("Cambridge", None, None)]),
        ("Cambridge, UK", [("Cambridge", None, "GB")]),
        ("Cambridge, MA", [("Cambridge", "MA", "US")]),
        ("Wuhan", [("Wuhan", None, "CN")]),
        ("Xi'an, China", [("Xi’an", None, "CN")]),
        ("Pompano Beach, USA", [("Pompano Beach", "FL", "US")]),
        ("Seattle, WA", [("Seattle", "WA", "US")]),  # Wa is a city of Ghana
        ("Москва", [("Moscow", None, "RU")]),
        ("Varsovie, Pologne", [("Warsaw", None, "PL")]),
        ("Mumbai/Bombay", [("Mumbai", "MH", "IN")]),
        ("Dwarka, New Delhi", [("New Delhi", "DL", "IN")]),  # a quarter, and a town elsewhere
        ("Skopje, Zagreb, Split", [("Skopje", None, "MK"), ("Zagreb", None, "HR"), ("Split", None, "HR")]),
        ("Remote - Washington", [("Washington", None, None)]),  # the state or the capital
        ("APAC - Singapore", [(None, None, "SG")]),
        ("NA - United States", [(None, None, "US")]),
        ("KHM - Phnom Penh", [("Phnom Penh", None, "KH")]),
        ("Enterprise", [("Enterprise", None, None)]),  # a word until something else says that it is a city
        ("Enterprise, AL", [("Enterprise", "AL", "US")]),
        ("Mobile, AL", [("Mobile", "AL", "US")]),
        ("Nice, France", [("Nice", None, "FR")]),
        ("Split, Croatia", [("Split", None, "HR")]),
        ("Bath, UK", [("Bath", None, "GB")]),
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
    assert {city.region for city in cities_named("Portland")} >= {"OR", "ME"}


@pytest.mark.promise(13)
@pytest.mark.parametrize(
    "names",
    [
        "Lagos NG;Kinshasa CD;Wuhan CN;Chongqing CN;Surat IN;Karachi PK;Luanda AO;Ahvaz IR;Ibadan NG;Guayaquil EC",
        "Porto PT;Leipzig DE;Bakersfield US;Red Deer CA;Gelsenkirchen DE;Wolverhampton GB;Salford GB;Toowoomba AU",
    ],
)
def test_large_and_middling_cities_of_all_the_world_are_known(names: str):
    for each in names.split(";"):
        name, country = each.rsplit(" ", 1)
        assert country in {city.country for city in cities_named(name)}, name


def test_every_country_is_known_by_its_name_in_many_languages():
    names = "Fiji FJ;Bhutan BT;Ivory Coast CI;Côte d’Ivoire CI;Chypre CY;Norwegen NO;Szwajcaria CH"
    asian = "日本 JP;대한민국 KR;Россия RU;Saint Lucia LC;St. Lucia LC;Saint Vincent and the Grenadines VC"
    for each in f"{names};{asian}".split(";"):
        name, country = each.rsplit(" ", 1)
        assert country_named(name) == country


def test_a_bare_name_means_the_city_that_is_far_larger_and_else_none():
    assert [city.country for city in cities_named("Santiago") if city.main] == ["CL"]
    assert not any(city.main for city in cities_named("Merida"))
    assert not any(city.main for city in cities_named("Kingston"))  # Ontario is listed, Jamaica far larger


def test_what_people_have_listed_comes_first_and_is_meant():
    first, *others = cities_named("Denver")
    assert (first.region, first.main) == ("CO", True)
    assert not any(city.main for city in others)


@pytest.mark.parametrize(
    "name", ["Mobile", "Nice", "Reading", "Of", "Bath", "Orange", "Split", "Male", "Spring"]
)
def test_a_city_that_is_a_word_is_known_to_be_one(name: str):
    assert is_word(name) or not cities_named(name)


@pytest.mark.parametrize("name", ["London", "Phoenix", "Cologne", "Buffalo", "Berlin", "São Paulo"])
def test_a_city_that_everybody_takes_for_one_is_no_word(name: str):
    assert not is_word(name)


@pytest.mark.parametrize("code", ["WA", "OR", "IN", "ME", "SC", "MD", "NSW", "IDF", "CAN", "IND"])
def test_no_city_takes_the_place_of_a_code(code: str):
    assert cities_named(code) == ()
