from tests.cli.conftest import Thresher


def test_init_makes_a_project_that_runs(folder, thresher: Thresher):
    made = thresher("init")
    assert made.code == 0
    assert "thresher run" in made.out
    assert {path.name for path in folder.iterdir()} >= {"thresher.yaml", "app.py", "thresher.db"}

    ran = thresher("run", "--json")
    assert ran.code == 0
    assert {kind["kind"]: kind["succeeded"] for kind in ran.json["kinds"]} == {"greet": 1, "visit": 3}


def test_init_overwrites_nothing(folder, thresher: Thresher):
    (folder / "app.py").write_text("mine")
    result = thresher("init")
    assert result.code == 2
    assert "app.py" in result.err
    assert (folder / "app.py").read_text() == "mine"
    assert not (folder / "thresher.yaml").exists()


def test_init_in_another_folder_puts_everything_there(folder, thresher: Thresher):
    assert thresher("init", "new/place").code == 0
    assert (folder / "new/place/thresher.db").exists()
    assert not (folder / "thresher.db").exists()
    assert thresher("--project", "new/place", "status").code == 0


def test_init_with_json_says_what_it_made(folder, thresher: Thresher):
    made = thresher("init", "--json").json
    assert (made["written"], made["database"]) == (["thresher.yaml", "app.py"], "sqlite:///thresher.db")
    assert made["applied"]
