"""`thresher recipes`: which sites are read into what, how each is walked, and what that was proved with."""

import asyncio
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console
from rich.text import Text

from thresher.admin.times import read_now
from thresher.apps.extractions.recipe_file import RecipeSpec, read_recipe_text, recipe_text
from thresher.apps.extractions.service import recipes
from thresher.apps.extractions.service.recipes import (
    EntityView,
    RecipeChanged,
    RecipeDetail,
    RecipeTrial,
    RecipeView,
    VersionView,
    closed_until,
    list_entities,
    list_views,
    show_recipe,
    spec_named,
)
from thresher.apps.extractions.service.reports import DetectionReport, Estimate
from thresher.cli.call import CommandCall, call_of
from thresher.cli.format import ago, as_json, number, plain, short, when
from thresher.cli.show import answer, cell, known, say, table
from thresher.core.errors import ConfigError, UsageError
from thresher.reading.structured.checked_yaml import MAX_TEXT
from thresher.reading.structured.yaml_file import read_foreign_yaml
from thresher.runtime import Runtime

app = typer.Typer()

MAX_SHOWN = 10
Name = Annotated[str, typer.Argument(metavar="RECIPE", help="Name or id of the recipe.")]
File = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="YAML file of the recipe; - is standard input.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Set one key, such as limits.pages=500; empty removes it."
    ),
]
Detect = Annotated[
    bool, typer.Option("--detect", help="Detect a configuration although the recipe gives one.")
]
_COLOURS = {"SUCCESS": "green", "ERROR": "red", "IN_PROGRESS": "cyan", "WAITING": "blue"}


def status(word: str) -> Text:
    """The status of a recipe, in its colour."""
    return cell(word, _COLOURS.get(word))


@app.command("list")
def list_(
    ctx: typer.Context,
    retired: Annotated[bool, typer.Option("--retired", help="Show retired recipes too.")] = False,
) -> None:
    """List recipes: what each reads, and how its configuration stands."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = list_views(store, retired=retired), read_now(store)
    answer(call, found, lambda out, value: _draw(out, value, now))


def _draw(out: Console, found: list[RecipeView], now: int) -> None:
    if not found:
        out.print(
            "No recipes. Add one: thresher recipes add NAME --url https://example.com/courses --entity course. "
            "Or declare them in thresher.yaml under extractions.recipes: a worker and a server read it."
        )
        return
    rows = [
        [
            each.name,
            each.entity,
            each.url,
            status(each.status),
            each.version or None,
            each.made_by,
            ago(each.updated_at, now),
            short(_note(each), 80) or None,
        ]
        for each in found
    ]
    out.print(table(["!recipe", "entity", "@url", "status", "#version", "made by", "#changed", "note"], rows))


def _note(recipe: RecipeView) -> str | None:
    """What a person should know first."""
    if recipe.retired_at:
        return "retired"
    if recipe.closed_until:
        return f"{recipe.source} is closed {closed_until(recipe)}: {recipe.closed_reason}"
    return recipe.reason


@app.command()
def entities(ctx: typer.Context) -> None:
    """List the entity types that a recipe can name, with their fields."""
    answer(call_of(ctx), list_entities(), _draw_entities)


def _draw_entities(out: Console, found: list[EntityView]) -> None:
    rows = [
        [each.name, ", ".join(each.required), ", ".join(each.optional), ", ".join(each.key) or None]
        for each in found
    ]
    out.print(table(["entity", "required", "optional", "key"], rows))
    out.print("Any other: entity: {schema: ...} with a flat JSON Schema, or the name of its file.")


# Change


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the recipe: acme-courses.")],
    url: Annotated[str | None, typer.Option(help="Address where the site's list begins.")] = None,
    entity: Annotated[
        str | None, typer.Option(help="Entity type; thresher recipes entities lists them.")
    ] = None,
    file: File = None,
    changes: Set = None,
    detect: Detect = False,
) -> None:
    """Add a recipe. A worker then finds out how its site is walked, unless it comes with a configuration."""
    call = call_of(ctx)
    text, folder = _read(file) if file is not None else ("{}", None)
    given = {each: value for each, value in (("url", url), ("entity", entity)) if value is not None}
    spec = _spec(text, str(file or "the options"), folder, given, changes)
    with call.runtime() as runtime:
        recipes.refuse_unfetchable(runtime, spec.url)
        found = recipes.add_recipe(runtime.store, runtime.registry, name, spec, detect=detect)
    _say_changed(call, found, f"{found.recipe.name} reads {found.recipe.entity} from {found.recipe.url}")


@app.command()
def edit(
    ctx: typer.Context,
    recipe: Name,
    file: File = None,
    changes: Set = None,
    detect: Detect = False,
) -> None:
    """Change a recipe: in $EDITOR, with a file, or key by key with --set.

    A configuration that is there is accepted as it is; without one it is detected again.
    """
    call = call_of(ctx)
    with call.runtime() as runtime:
        before = spec_named(runtime.store, recipe)
        spec = _edited(recipe, before, file, changes)
        if spec == before and not detect:
            typer.echo("Nothing was changed.", err=True)
            raise typer.Exit
        found = _update(runtime, recipe, spec, detect)
    _say_changed(call, found, f"{found.recipe.name} is version {found.recipe.version}")


def _update(runtime: Runtime, recipe: str, spec: RecipeSpec, detect: bool) -> RecipeChanged:
    recipes.refuse_unfetchable(runtime, spec.url)
    return recipes.update_recipe(runtime.store, runtime.registry, recipe, spec, detect=detect)


def _edited(recipe: str, before: RecipeSpec, file: Path | None, changes: list[str] | None) -> RecipeSpec:
    if file is not None:
        text, folder = _read(file)
        return _spec(text, str(file), folder, {}, changes)
    if changes:
        return _spec(recipe_text(before), recipe, None, {}, changes)
    return _from_editor(recipe, before)


def _from_editor(recipe: str, before: RecipeSpec) -> RecipeSpec:
    """What a person has typed is never lost: a text that is wrong is kept in a file."""
    text = _typed(recipe_text(before))
    try:
        return read_recipe_text(text, recipe)
    except ConfigError as problem:
        kept = Path(f"recipe-{recipe}.yaml")
        kept.write_text(text, "utf-8")
        raise ConfigError(
            f"{problem}. Nothing was changed. What you wrote is in {kept}; correct it, and: thresher recipes "
            f"edit {recipe} --file {kept}"
        ) from None


def _typed(text: str) -> str:
    """Let a person change a text in their editor."""
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not editor:
        raise UsageError("EDITOR is not set; set it, or give --file FILE or --set KEY=VALUE")
    with TemporaryDirectory(prefix="thresher-") as folder:  # nobody else may look into it
        file = Path(folder) / "recipe.yaml"
        file.write_text(text, "utf-8")
        try:
            code = subprocess.run([*editor, str(file)], check=False).returncode  # noqa: S603  the person's own
        except OSError as problem:
            raise UsageError(f"EDITOR {editor[0]!r} cannot be started: {problem.strerror}") from None
        if code:
            raise UsageError(f"EDITOR {editor[0]!r} ended with {code}; nothing was changed")
        return _read(file)[0]


def _read(file: Path) -> tuple[str, Path | None]:
    """The text of a recipe, and the folder of files that it may name."""
    if str(file) == "-":
        return sys.stdin.read(MAX_TEXT + 1), None
    try:
        with file.open(encoding="utf-8") as opened:
            return opened.read(MAX_TEXT + 1), file.parent
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"--file {str(file)!r} cannot be read: {problem}") from None


def _spec(
    text: str, file: str, folder: Path | None, given: Mapping[str, Any], changes: list[str] | None
) -> RecipeSpec:
    """A recipe with some keys set. Where none is, mistakes are named by the lines of the file."""
    if not given and not changes:
        return read_recipe_text(text, file, folder)
    try:
        said = read_foreign_yaml(text)
    except yaml.YAMLError as problem:
        raise ConfigError(f"{file}: not YAML: {problem}") from None
    if not isinstance(said, dict):
        raise ConfigError(f"{file} is not a recipe; write url: https://... and entity: course")
    said |= given
    for change in changes or ():
        _set(said, change)
    return read_recipe_text(yaml.safe_dump(said, sort_keys=False), file, folder)


def _set(said: dict[str, Any], change: str) -> None:
    path, sign, text = change.partition("=")
    *way, last = path.strip().split(".")
    if not sign or not last:
        raise UsageError(f"--set {change!r} has no value; write --set limits.pages=500")
    try:
        value = read_foreign_yaml(text)
    except yaml.YAMLError as problem:
        raise UsageError(f"--set {change!r}: not YAML: {problem}") from None
    inner = said
    for step in way:
        inner = inner.setdefault(step, {})
        if not isinstance(inner, dict):
            raise UsageError(f"--set {change!r}: {step} is no mapping; set it whole")
    if value is None:
        inner.pop(last, None)
    else:
        inner[last] = value


@app.command()
def detect(ctx: typer.Context, recipe: Name) -> None:
    """Find out anew how the site of a recipe is walked. A worker does it; the newest answer counts."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = recipes.reconfigure(runtime.store, runtime.registry, recipe)
    _say_changed(call, found, f"{found.recipe.name} is looked at again")


@app.command("answer")
def answer_one(
    ctx: typer.Context,
    recipe: Name,
    choice: Annotated[
        int, typer.Argument(min=1, metavar="NUMBER", help="Number of the answer, as show has it.")
    ],
) -> None:
    """Answer the question of a detection. What was chosen is then proved on a sample."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = recipes.answer_question(runtime.store, runtime.registry, recipe, choice)
    _say_changed(call, found, f"Answer {choice} is the configuration of {found.recipe.name}")


@app.command()
def revert(
    ctx: typer.Context,
    recipe: Name,
    version: Annotated[int, typer.Argument(min=1, metavar="VERSION", help="Version to take up again.")],
) -> None:
    """Take up an earlier version of a recipe, as a new version."""
    call = call_of(ctx)
    with call.runtime() as runtime:
        found = recipes.revert(runtime.store, runtime.registry, recipe, version)
    _say_changed(call, found, f"{found.recipe.name} is as in version {version}, now {found.recipe.version}")


@app.command()
def remove(ctx: typer.Context, recipe: Name) -> None:
    """Retire a recipe: it starts nothing more, and its versions and data sets are kept."""
    call = call_of(ctx)
    with call.store() as store:
        found = recipes.remove_recipe(store, recipe)
    say(call, found, f"{found.name} is retired; what it has brought stays.")


def _say_changed(call: CommandCall, found: RecipeChanged, told: str) -> None:
    follows = (
        f"Its configuration is detected in task {found.task.id}: thresher recipes show {found.recipe.name}."
        if found.task
        else f"Its configuration is version {found.recipe.version}, {found.recipe.reason}."
    )
    say(call, found, f"{told}. {follows}")


# Look


@app.command()
def versions(ctx: typer.Context, recipe: Name) -> None:
    """List the configurations that a recipe has had, newest first, and who made them."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = show_recipe(store, recipe), read_now(store)
    answer(call, found.versions, lambda out, value: _draw_versions(out, value, now))


def _draw_versions(out: Console, found: list[VersionView], now: int) -> None:
    if not found:
        out.print("It has had no configuration yet.")
        return
    rows = [[each.version, each.made_by, when(each.made_at, now), _levels(each.recipe)] for each in found]
    out.print(table(["#version", "made by", "made", "levels"], rows))


def _levels(said: Mapping[str, Any]) -> str:
    return " > ".join(_types(said.get("configuration")))


def _types(level: Any) -> Iterator[str]:
    while isinstance(level, dict):
        yield str(level.get("page_type"))
        level = level.get("links")


@app.command()
def show(
    ctx: typer.Context,
    recipe: Name,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Print the YAML alone, as edit takes it.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of what it brings, alone.")
    ] = False,
) -> None:
    """Show a recipe: its YAML, how its configuration was proved, and what an extraction would take."""
    call = call_of(ctx)
    with call.store() as store:
        found, now = show_recipe(store, recipe), read_now(store)
    if as_yaml:
        typer.echo(plain(found.yaml), nl=False)
    elif schema:
        typer.echo(as_json(found.schema, indent=2))
    else:
        answer(call, found, lambda out, value: _draw_one(out, value, now))


def _draw_one(out: Console, found: RecipeDetail, now: int) -> None:
    recipe = found.recipe
    version = f"{recipe.version}, by {recipe.made_by}" if recipe.configured else None
    out.print(
        known(
            [
                ("recipe", f"{recipe.name} ({recipe.id})"),
                ("status", status(recipe.status)),
                ("reason", recipe.reason),
                ("version", version),
                ("source", recipe.source),
                (
                    "closed",
                    f"{closed_until(recipe)}: {recipe.closed_reason}" if recipe.closed_until else None,
                ),
                ("declared in", recipe.declared_in),
                ("changed", when(recipe.updated_at, now)),
                ("retired", when(recipe.retired_at, now) if recipe.retired_at else None),
            ]
        )
    )
    out.print()
    out.print(Text(plain(found.yaml.rstrip())))
    if found.report is not None:
        _draw_report(out, found.report, recipe.name)


def _draw_report(out: Console, report: DetectionReport, name: str) -> None:
    out.print()
    out.print(
        known(
            [
                ("pages", _estimate(report.pages)),
                ("items", _estimate(report.items)),
                ("cost", _cost(report)),
                ("fields not read", ", ".join(report.fields_missing) or None),
            ]
        )
    )
    for at, level in enumerate(report.levels, 1):
        title = f"level {at}: {level.page_type}, by {level.by}"
        rows = [(each.url, each.title, each.trouble or each.reading) for each in level.samples]
        out.print()
        out.print(Text(plain(f"{title}{''.join(f'; {each}' for each in level.reasons[:3])}")))
        if rows:
            out.print(table(["@sampled page", "title", "is"], rows))
    _draw_preview(out, report)
    if report.question is not None:
        out.print(Text(plain(f"\nA question to you: {report.question.asks}"), style="yellow"))
        for at, choice in enumerate(report.question.choices, 1):
            out.print(Text(plain(f"  {at}. {choice.says}")))
        out.print(f"Answer it with: thresher recipes answer {name} NUMBER")
    _draw_lines(out, report.notes)


def _draw_preview(out: Console, report: DetectionReport) -> None:
    for item in report.preview:
        out.print()
        out.print(Text(plain(f"{item.url} (read by {item.by})"), style="bold"))
        out.print(known((name, short(_value(value), 160)) for name, value in item.data.items()))
        _draw_lines(out, item.doubts)


def _draw_lines(out: Console, lines: Iterable[str]) -> None:
    for line in lines:
        out.print(Text(plain(f"  - {line}")))


def _value(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _estimate(estimate: Estimate) -> str | None:
    if estimate.likely is None:
        return f"at least {estimate.low:,}" if estimate.low else None
    span = (
        f", between {estimate.low:,} and {estimate.high:,}"
        if estimate.low is not None and estimate.high is not None and estimate.low != estimate.high
        else ""
    )
    return f"about {estimate.likely:,}{span} ({estimate.confidence})"


def _cost(report: DetectionReport) -> str | None:
    dollars = report.cost.dollars
    return (
        ": ".join(filter(None, (None if dollars is None else f"${dollars:,.2f}", report.cost.says))) or None
    )


@app.command("test")
def try_one(
    ctx: typer.Context,
    recipe: Name,
    url: Annotated[
        str | None, typer.Argument(metavar="[URL]", help="Page to try; default: where the recipe begins.")
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(help="Level of the page, 1 is the root; default: the last for a URL, else the first."),
    ] = None,
    file: File = None,
) -> None:
    """Fetch one page and show what the recipe makes of it: links, next pages, items. Nothing is stored."""
    call = call_of(ctx)
    if file is not None:
        text, folder = _read(file)
        spec = read_recipe_text(text, str(file), folder)
    else:
        with call.store() as store:
            spec = spec_named(store, recipe)
    found = asyncio.run(recipes.try_recipe(call.project(), spec, url, level))
    answer(call, found, _draw_trial)


def _draw_trial(out: Console, found: RecipeTrial) -> None:
    page = found.page
    out.print(Text(plain(found.final_url), style="bold"))
    out.print(
        known(
            [
                ("level", f"{found.level} of {found.levels}: {found.page_type}"),
                ("title", page.title),
                ("links to follow", f"{page.links_found:,}" if page.links_found else None),
                ("pages of the list", page.total_pages),
                ("items", number(found.items_found, "item") if found.items_found else None),
            ]
        )
    )
    _draw_lines(out, (f"follows {each}" for each in page.links[:MAX_SHOWN]))
    if page.links_found > MAX_SHOWN:
        out.print(f"  and {page.links_found - MAX_SHOWN:,} more")
    _draw_lines(out, (f"goes on at {each}" for each in page.next_pages))
    for item in found.items[:MAX_SHOWN]:
        out.print()
        out.print(known((name, short(_value(value), 160)) for name, value in item.items()))
    _draw_lines(out, found.doubts)
    _draw_lines(out, page.notes)
