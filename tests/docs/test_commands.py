"""Commands on pages: those in `console` blocks run and print what the page says; those in `sh` blocks exist."""

import re
import shlex

import click
import markdown_pages as pages
import pytest

from perceptrons.cli.main import group
from perceptrons.cli.serve import token

ADDING = pages.ROOT / "docs/inside/adding.md"  # has a test of its own: it changes the package
PAGES = [page for page in pages.pages() if page != ADDING]
RUN = [page for page in PAGES if any(block.kind == "console" for block in pages.blocks(page))]
TYPED = [page for page in pages.pages() if any(block.kind == "sh" for block in pages.blocks(page))]


@pytest.mark.parametrize("page", RUN, ids=pages.name)
def test_commands_print_what_the_page_says(page, tmp_path):
    pages.follow(page, tmp_path, pages.environment())


@pytest.mark.parametrize("page", TYPED, ids=pages.name)
def test_commands_exist(page):
    targets = re.findall(r"^([\w.-]+):", (pages.ROOT / "Makefile").read_text(), re.MULTILINE)
    for block in pages.blocks(page):
        for line in block.code.replace("\\\n", " ").splitlines() if block.kind == "sh" else ():
            for command in re.split(r" [|&]+ |; ", re.sub(r"(^|\s)#\s.*", "", line)):
                words = shlex.split(command)
                if words[:1] == ["perceptrons"]:
                    check_options(words[1:])
                elif words[:1] == ["make"]:
                    assert words[1] in targets, line
                elif len(words) > 1 and words[0].endswith("python") and words[1].endswith(".py"):
                    assert (pages.ROOT / words[1]).exists(), line


def check_options(words):
    """The verb exists, and has these options."""
    command, context = group, click.Context(group)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        verb, *words = words
        command = command.get_command(context, verb)
        assert command is not None, f"no verb {verb}"
    if (command.name, words[:1]) == ("serve", ["token"]):
        command = token
    known = {"-h", "--help", "--version"}
    for option in command.params:
        known.update(option.opts, option.secondary_opts)
    for word in words:
        if re.match(r"--?[a-zA-Z]", word):
            assert word.partition("=")[0] in known, f"{command.name} has no option {word}"


@pytest.mark.parametrize("page", pages.pages(), ids=pages.name)
def test_blocks_are_of_known_kinds(page):
    """So that no example is left out: `python` is run by doctest, `console` and `sh` by the tests above."""
    kinds = {"python", "console", "sh", "text", "json", "bibtex"}
    for block in pages.blocks(page):
        assert block.kind in kinds or block.kind.startswith("{"), f"a block of kind {block.kind!r}"
        if block.kind == "python":
            assert ">>> " in block.code or block.lead.startswith("In "), f"no test runs this:\n{block.code}"
        if block.kind == "console":
            assert block.code.startswith("$ "), block.code
        if block.kind == "sh":
            assert not re.search(r"^\$ ", block.code, re.MULTILINE), block.code
