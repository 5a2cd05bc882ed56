"""Pages as a whole: links that lead somewhere, chapters that teach, a README that one reads, figures with commands."""

import re
from urllib.parse import unquote

import markdown_pages as pages
import pytest

import perceptrons

LINK = re.compile(r"(?<!\\)\[(?P<text>[^\]]*)\]\((?P<to>[^)\s]+)\)")
CHAPTERS = sorted((pages.ROOT / "docs/learn").glob("[0-9]*.md"))
EXAMPLES = sorted((pages.ROOT / "examples").glob("*/plot_*.py"))


def prose(page):
    """A page without its blocks of code."""
    return pages.FENCE.sub("", page.read_text())


@pytest.mark.parametrize("page", pages.pages(), ids=pages.name)
def test_links_lead_somewhere(page):
    for link in LINK.finditer(prose(page)):
        path, _, anchor = unquote(link["to"]).partition("#")
        if re.match(r"\w+:", path):
            continue
        target = (page.parent / path).resolve() if path else page
        if "gallery" in target.parts:  # written by the build, from examples/
            target = pages.ROOT / "examples" / target.relative_to(pages.ROOT / "docs/gallery").with_suffix(".py")
            target = target.with_name("GALLERY_HEADER.rst") if target.stem == "index" else target
        assert target.exists(), f"no {path}, for [{link['text']}]"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{path} has no heading #{anchor}"


def anchors(page):
    """The anchors of the headings of a page, as MyST and GitHub make them. Some pages show a file of another folder."""
    if found := re.match(r"```\{include\} (\S+)", page.read_text()):
        page = page.parent / found[1]
    for heading in re.findall(r"^#{1,4} (.+)$", prose(page), re.MULTILINE):
        plain = re.sub(r"[`*]|\$", "", LINK.sub(r"\g<text>", heading)).lower()
        yield re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def test_the_readme_is_short():
    assert len((pages.ROOT / "README.md").read_text().splitlines()) <= 150


def test_the_citation_is_of_this_version():
    text = (pages.ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {perceptrons.__version__}\n" in text


@pytest.mark.parametrize("chapter", CHAPTERS, ids=pages.name)
def test_chapters_teach(chapter):
    """A picture or a table, something to try in the lab, and exercises, each with an answer that runs."""
    text = chapter.read_text()
    lesson, _, exercises = text.partition("\n## Exercises\n")
    assert "```{picture}" in lesson or "\n|---" in lesson
    assert "## Try it in the lab" in lesson
    number = int(chapter.name[:2])
    asked = re.findall(rf"^\*\*{number}\.(\d+)\*\*", exercises, re.MULTILINE)
    assert [int(each) for each in asked] == list(range(1, len(asked) + 1)) and len(asked) >= 4
    answers = re.findall(r"^:::\{dropdown\} Answer$.*?^:::$", exercises, re.MULTILINE | re.DOTALL)
    assert len(answers) == len(asked)
    for answer in answers:
        assert ">>> " in answer, f"no test runs this answer:\n{answer}"


def test_there_are_ten_chapters():
    assert [int(chapter.name[:2]) for chapter in CHAPTERS] == list(range(1, 11))


@pytest.mark.parametrize("example", EXAMPLES, ids=pages.name)
def test_examples_say_what_they_show(example):
    text = example.read_text()
    title, line, *_ = text.removeprefix('"""\n').splitlines()
    assert set(line) == {"="} and len(line) >= len(title)
    assert "plt.show()" in text and ":doc:`/" in text, "a picture, and a link to the page that says more"
    for page in re.findall(r":doc:`(?:[^`<]*<)?/([^`>]+)>?`", text):
        assert (pages.ROOT / "docs" / f"{page}.md").exists(), page


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= 25


def test_questions_are_answered():
    """Each question has an answer with a link to the page that has the rest."""
    text = (pages.ROOT / "docs/start/questions.md").read_text()
    asked = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert len(asked) >= 20
    for question in asked:
        heading, _, answer = question.partition("\n")
        assert heading.endswith("?") and ("](" in answer or "{py:" in answer), heading


def test_figures_have_commands():
    """In the tables of benchmarks, each line has its command, or continues the one above, and its date."""
    text = (pages.ROOT / "docs/inside/benchmarks.md").read_text()
    rows = re.findall(r"^\| (.+?) \|.*\| (\S+) \|$", text, re.MULTILINE)
    for command, date in rows:
        if command == "command" or set(command) <= {"-", ":", "|"}:
            continue
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", date), command
        found = re.fullmatch(r"`python (benchmarks/\w+\.py)[^`]*`", command)
        assert command == "the same" or (found and (pages.ROOT / found[1]).exists()), command
    assert len(rows) > 50
