"""What titles say of products: models, variants, bar codes, conditions; and what is no such product."""

import pytest

from tests.apps.prices.matching.judging import item, judged, product, verdict
from thresher.apps.prices.gtin import normal_gtin
from thresher.apps.prices.kinds import checked_attributes, kind_named
from thresher.core.errors import UsageError

MATCHES, DIFFERS, SILENT = "matches", "differs", "silent"
CARD = product("RTX 4090", brand="NVIDIA")
PHONE = product("iPhone 13 Pro", brand="Apple", variant="128GB black")


@pytest.mark.parametrize(
    ("model", "title", "expected"),
    [
        *(
            ("RTX 4090", f"NVIDIA {said} 24GB", MATCHES)
            for said in ("RTX 4090", "RTX-4090", "RTX4090", "rtx 4090", "GeForce RTX 4090")
        ),
        ("GeForce RTX 4090", "MSI RTX 4090", MATCHES),
        ("RTX 4090", "RTX 4090 Ti", DIFFERS),
        ("RTX 4090", "RTX 4090Ti", DIFFERS),
        ("RTX 4090", "RTX 4090 D", DIFFERS),
        ("RTX 4090", "RTX 4080", DIFFERS),
        ("RTX 4090", "RTX 4090 like RTX 4080", DIFFERS),
        ("RTX 4090", "GTX 1080", SILENT),
        ("RTX 4090", "XRTX 4090", SILENT),
        ("iPhone 13 Pro", "iPhone 13 Pro", MATCHES),
        ("iPhone 13 Pro", "iPhone13Pro", MATCHES),
        ("iPhone 13 Pro", "iPhone 13 Pro Max", DIFFERS),
        ("iPhone 13 Pro", "iPhone 13 128GB", DIFFERS),
        ("iPhone 13 Pro", "iPhone 14 Pro", DIFFERS),
        ("iPhone 13", "iPhone 13 mini", DIFFERS),
        ("iPhone 13", "iPhone 12/13", DIFFERS),
        ("Galaxy S21", "Samsung S21 5G", MATCHES),
        ("Galaxy S21", "Samsung Galaxy S 21", MATCHES),
        ("Galaxy S21", "Galaxy S21+ 128GB", DIFFERS),
        ("Galaxy S21", "Galaxy S21 + charger", MATCHES),
        ("Galaxy S21", "Galaxy S21 FE", DIFFERS),
        ("Galaxy S21", "Galaxy S22", DIFFERS),
        ("WH-1000XM4", "Sony WH1000XM4", MATCHES),
        ("WH-1000XM4", "Sony WH-1000 XM4", MATCHES),
        ("WH-1000XM4", "Sony WH-1000XM4/B", MATCHES),
        ("WH-1000XM4", "Sony WH-1000XM5", DIFFERS),
        ("Core i7-9700", "Intel i7 9700", MATCHES),
        ("Core i7-9700", "Intel i7-9700K", DIFFERS),
        ("Core i7-9700", "Intel i7-8700", DIFFERS),
        ("Alpha a7 III", "Sony A7iii", MATCHES),
        ("Alpha a7 III", "Sony A7 II", DIFFERS),
        ("Alpha a7 III", "Sony A7R III", DIFFERS),
        ("AirPods Pro", "Apple AirPods Pro", MATCHES),
        ("AirPods Pro", "Apple AirPods Pro 2", DIFFERS),
        ("AirPods Pro", "Apple AirPods Pro 2nd generation", DIFFERS),
        ("AirPods Pro", "Apple AirPods Max", SILENT),
        ("PlayStation 5", "Sony PS5", MATCHES),
        ("PlayStation 5", "Sony PlayStation 5 Slim", DIFFERS),
        ("PlayStation 5", "Sony PS4", DIFFERS),
        ("PlayStation 5", "PlayStation 5 2 controllers", MATCHES),
        ("AA", "Duracell AAA", SILENT),
        ("10294", "LEGO 10294 Titanic", MATCHES),
        ("10294", "LEGO 102945", SILENT),
    ],
)
def test_hyphens_and_case_do_not_count_in_a_model_and_what_makes_another_one_does(
    model: str, title: str, expected: str
) -> None:
    assert verdict(product(model), title, "model") == expected


@pytest.mark.parametrize(
    ("variant", "title", "expected"),
    [
        ("128GB", "128GB", MATCHES),
        ("128GB", "128 gb", MATCHES),
        ("128GB", "6GB RAM 128GB", MATCHES),
        ("1TB", "1000GB", MATCHES),
        ("128GB", "256GB", DIFFERS),
        ("128GB", "6GB RAM", SILENT),
        ("128GB", "64GB/128GB/256GB", DIFFERS),
        ("128GB black", "128GB black", MATCHES),
        ("128GB black", "128GB schwarz", MATCHES),
        ("128GB black", "128GB", SILENT),
        ("128GB black", "128GB blue", DIFFERS),
        ("128GB black", "128GB blue or black", MATCHES),
        ("size 42", "size 42", MATCHES),
        ("size 42", "size 43", DIFFERS),
        ("size 42", "Größe 43", DIFFERS),
        ("red", "tired", SILENT),
        ("hardcover", "Hardcover", MATCHES),
        ("hardcover", "not hardcover", SILENT),
    ],
)
def test_a_variant_is_compared_piece_by_piece(variant: str, title: str, expected: str) -> None:
    assert verdict(product("Thing 7", variant=variant), f"Thing 7 {title}", "variant") == expected


def test_pieces_of_a_variant_may_stand_in_several_fields() -> None:
    found = judged(PHONE, "Apple iPhone 13 Pro", aspects={"Storage Capacity": "128 GB", "Colour": "Black"})
    assert found.strength == 1_000
    other = judged(PHONE, "Apple iPhone 13 Pro 128GB", aspects={"Colour": "Gold"})
    assert (other.strength, other.reason) == (0, "it says 'Gold'; the item's variant is 128GB black")


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("4006381333931", "04006381333931"),
        ("4006381333932", None),
        ("036000291452", "00036000291452"),
        ("0036000291452", "00036000291452"),
        ("96385074", "00000096385074"),
        ("978-0-441-17271-9", "09780441172719"),
        ("0441172717", "09780441172719"),  # the old form of the same book
        ("044117271X", None),
        ("080442957X", "09780804429573"),
        ("00000000", None),
        ("", None),
        ("4" * 400, None),
        ("٤٠٠٦٣٨١٣٣٣٩٣١", None),
    ],
)
def test_a_bar_code_is_proven_by_its_check_digit(text: str, normal: str | None) -> None:
    assert normal_gtin(text) == normal


def test_an_item_with_a_wrong_bar_code_is_refused() -> None:
    with pytest.raises(UsageError, match="gtin: the check digit of '4006381333932' is wrong"):
        checked_attributes(kind_named("product"), {"model": "Pen", "gtin": "4006381333932"})


PEN = product("Boss 70 marker", brand="Stabilo", gtin="4006381333931")


@pytest.mark.parametrize(
    ("title", "aspects", "strength"),
    [
        ("marker, 4006381333931", {}, 1_000),
        ("marker", {"EAN": "4006381333931"}, 1_000),
        ("marker", {"UPC": "4006381333931"}, 1_000),
        ("Stabilo Boss 70 marker", {"EAN": "Does not apply"}, 1_000),
        ("Stabilo Boss 70 marker", {"EAN": "4006381333948"}, 0),
        ("Stabilo Boss 70 marker EAN 4006381333948", {}, 0),
        ("Stabilo Boss 70 marker 4006381333948", {}, 1_000),  # some number
        ("Stabilo Boss 70 marker EAN 4006381333932", {}, 1_000),  # a slip of the pen
        ("Stabilo Boss 71 marker", {"EAN": "4006381333931"}, 0),  # a stated contradiction wins
    ],
)
def test_the_same_bar_code_is_the_same_thing_and_another_one_is_not(
    title: str, aspects: dict[str, str], strength: int
) -> None:
    assert judged(PEN, title, aspects=aspects).strength == strength


@pytest.mark.parametrize(
    ("said", "title", "condition", "expected"),
    [
        ("new", "", "New", MATCHES),
        ("new", "", "Brand New", MATCHES),
        ("new", "sealed", None, MATCHES),
        ("new", "", "https://schema.org/NewCondition", MATCHES),
        ("new", "never used", None, MATCHES),
        ("new", "", "Like New", DIFFERS),
        ("new", "", "Open box", DIFFERS),
        ("new", "not new", None, SILENT),
        ("new", "", "neuf", MATCHES),
        ("new", "newest firmware", None, SILENT),
        ("used", "", "Pre-Owned", MATCHES),
        ("used", "", "Very Good", MATCHES),
        ("used", "", "gebraucht", MATCHES),
        ("used", "", "Used - Good", MATCHES),
        ("used", "", "Certified - Refurbished", DIFFERS),
        ("used", "", "For parts or not working", DIFFERS),
        ("used", "not working", "Used", DIFFERS),
        ("refurbished", "", "Excellent - Refurbished", MATCHES),
        ("refurbished", "generalüberholt", None, MATCHES),
        ("parts", "für Bastler", None, MATCHES),
        ("parts", "", "Used", DIFFERS),
        ("used", "", None, SILENT),
    ],
)
def test_conditions_have_many_names(said: str, title: str, condition: str | None, expected: str) -> None:
    wanted = product("Thing 7", condition=said)
    found = judged(wanted, f"Thing 7 {title}", condition=condition)
    assert next(each.verdict for each in found.signals if each.name == "condition") == expected
    if expected == DIFFERS:
        assert not found.counts
        assert found.strength > 0  # the same thing, in another state


@pytest.mark.parametrize(
    "title", ["for parts", "not working", "defekt", "cracked screen", "pour pièces", "para piezas"]
)
def test_what_is_for_parts_never_counts_for_a_thing_of_which_nothing_is_said(title: str) -> None:
    found = judged(CARD, f"NVIDIA RTX 4090 {title}")
    assert not found.counts
    assert found.reason is not None
    assert found.reason.startswith("it is for parts")


@pytest.mark.parametrize(
    "title",
    [
        "Case for Apple iPhone 13 Pro",
        "Silicone case iPhone 13 Pro 128GB black",
        "iPhone 13 Pro screen protector",
        "Black and white case iPhone 13 Pro",
        "iPhone 13 Pro black and white case",
        "Hülle für iPhone 13 Pro",
        "Coque pour iPhone 13 Pro",
        "Funda para iPhone 13 Pro",
        "Charger compatible with iPhone 13 Pro",
        "Lens that fits iPhone 13 Pro",
        "Apple iPhone 13 Pro 128GB box only",
        "Apple iPhone 13 Pro 128GB empty box",
        "Apple iPhone 13 Pro 128GB nur OVP",
        "Apple iPhone 13 Pro 128GB manual only",
        "Apple iPhone 13 Pro dummy replica",
        "Bundle with iPhone 13 Pro",
    ],
)
def test_an_accessory_is_not_the_thing(title: str) -> None:
    found = judged(PHONE, title)
    assert not found.counts
    assert found.strength > 0


@pytest.mark.parametrize(
    "title",
    [
        "Apple iPhone 13 Pro 128GB black with case and charger",
        "Apple iPhone 13 Pro 128GB black + case",
        "Apple iPhone 13 Pro 128GB black and case",
        "Apple iPhone 13 Pro 128GB black incl. charger",
        "Apple iPhone 13 Pro 128GB black no box",
        "Apple iPhone 13 Pro 128GB black, box & charger",
        "Apple iPhone 13 Pro 128GB black for sale",
    ],
)
def test_a_thing_that_comes_with_an_accessory_counts(title: str) -> None:
    found = judged(PHONE, title)
    assert (found.counts, found.reason) == (True, None)


def test_an_accessory_counts_where_one_is_wanted() -> None:
    wanted = item(
        "product",
        name="Apple iPhone 13 Pro silicone case",
        brand="Apple",
        model="iPhone 13 Pro silicone case",
    )
    assert judged(wanted, "Apple iPhone 13 Pro silicone case").counts


def test_a_title_does_not_say_another_brand_and_a_field_does() -> None:
    assert verdict(PHONE, "MSI iPhone 13 Pro", "brand") == SILENT
    assert verdict(PHONE, "iPhone 13 Pro", "brand", aspects={"Brand": "Samsung"}) == DIFFERS
    assert verdict(PHONE, "iPhone 13 Pro", "brand", aspects={"Brand": "Unbranded"}) == SILENT
