"""`thresher prices chart` writes what the dashboard shows, and says what it cannot write."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.apps.prices.scene import fill
from tests.cli.conftest import Thresher, folder, thresher
from thresher.apps.prices.app import app
from thresher.runtime import opened_store

__all__ = ["folder", "thresher"]
PROJECT = "apps: [prices]\ndatabase: sqlite:///prices.db\n"


def project(folder: Path, thresher: Thresher) -> None:
    (folder / "thresher.yaml").write_text(PROJECT)
    assert thresher("migrate").code == 0
    with opened_store(f"sqlite:///{folder / 'prices.db'}", apps=(app,)) as store:
        fill(store)


def test_a_chart_is_written_as_svg_and_as_png(folder: Path, thresher: Thresher) -> None:
    project(folder, thresher)
    told = thresher("prices", "chart", "1921-D Morgan", "-o", str(folder / "coin.svg"))
    assert told.code == 0, told.err
    assert "the valuation is 53.00 USD" in told.out
    assert ET.parse(folder / "coin.svg").getroot().tag.endswith("svg")
    told = thresher("--json", "prices", "chart", "1", "-o", str(folder / "coin.PNG"))
    assert json.loads(told.out)["file"].endswith("coin.PNG")
    assert (folder / "coin.PNG").read_bytes().startswith(b"\x89PNG")


def test_what_cannot_be_drawn_is_said_and_no_file_is_written(folder: Path, thresher: Thresher) -> None:
    project(folder, thresher)
    for item, file, says in (
        ("1", "coin.pdf", "ends in .svg or .png"),
        ("1", "no/such/folder/coin.svg", "cannot write"),
        ("2", "phone.svg", "nothing to draw"),
        ("nobody", "x.svg", "there is no item"),
    ):
        told = thresher("prices", "chart", item, "-o", str(folder / file))
        assert told.code != 0, file
        assert says in told.err, told.err
        assert not (folder / file).exists()
