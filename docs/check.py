"""Check the built site: every link leads somewhere, nothing comes from a network, and questions are two clicks away.

python docs/check.py docs/_build/html
"""

from __future__ import annotations

import sys
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
START, QUESTIONS, FEWEST, CLICKS = "index.html", "start/questions.html", 20, 2


class Page(HTMLParser):
    """What a page refers to, and what can be referred to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.faults: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note anchors, links, and what the browser loads."""
        given = dict(attrs)
        self.anchors.update(value for name, value in attrs if name in ("id", "name") and value)
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if tag == "img" and "alt" not in given:  # empty: decorates a link that has a text
            self.faults.append(f"a picture without a description: {given.get('src')}")
        for name, value in attrs:
            if (
                (tag, name) in LOADED
                and value
                and not (tag == "link" and given.get("rel") in ("canonical", "next", "prev"))
            ):
                self.loads.append(value)


class Target(NamedTuple):
    """Where a link leads: a file of the site, and an anchor in it."""

    file: Path
    anchor: str


def target(page: Path, link: str) -> Target | None:
    """Where a link leads; None for other sites."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    return Target(file / "index.html" if file.is_dir() else file, unquote(parts.fragment))


def faults(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Everything that is wrong, a line each."""
    found = []
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name}: {fault}" for fault in page.faults]
        found += [
            f"{name}: loaded from a network: {load}"
            for load in page.loads
            if target(path, load) is None and not load.startswith("data:")
        ]
        for link in (*page.links, *page.loads):
            leads = target(path, link)
            if leads is None:
                continue
            if not leads.file.exists():
                found.append(f"{name}: dead link: {link}")
            elif leads.anchor and leads.file in pages and leads.anchor not in pages[leads.file].anchors:
                found.append(f"{name}: no such place in the page: {link}")
    return found


def distances(site: Path, pages: dict[Path, Page]) -> dict[Path, int]:
    """How many clicks each page is away from the start page."""
    clicks, waiting = {site / START: 0}, deque([site / START])
    while waiting:
        path = waiting.popleft()
        for link in pages[path].links:
            leads = target(path, link)
            if leads and leads.file in pages and leads.file not in clicks:
                clicks[leads.file] = clicks[path] + 1
                waiting.append(leads.file)
    return clicks


def main(site: Path) -> int:
    """Print what is wrong; return the exit code."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    found = faults(site, pages)
    clicks = distances(site, pages)
    text = (site / QUESTIONS).read_text(encoding="utf-8")
    n_questions = text.count("<h2>")
    if n_questions < FEWEST:
        found.append(f"{QUESTIONS}: {n_questions} questions, expected at least {FEWEST}")
    found += [
        f"{path.relative_to(site)}: no link leads here"
        for path in pages
        if path not in clicks and path.name not in ("genindex.html", "search.html")
    ]
    if clicks.get(site / QUESTIONS, 9) >= CLICKS:
        found.append(f"{QUESTIONS} is {clicks.get(site / QUESTIONS)} clicks from the start page")
    print("\n".join(found) or f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links: no fault")
    print(f"{n_questions} questions, each answered {clicks.get(site / QUESTIONS)} click from the start page")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
