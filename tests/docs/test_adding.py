"""The page on adding to the library is carried out, word by word, on a copy of the package."""

import shutil

import markdown_pages as pages


def test_additions_work_as_the_page_says(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("src", "tests"):
        shutil.copytree(pages.ROOT / folder, tmp_path / folder, ignore=ignored)
    for file in ("pyproject.toml", "conftest.py"):
        shutil.copy(pages.ROOT / file, tmp_path / file)
    bin = tmp_path / "bin"
    bin.mkdir()
    command = bin / "perceptrons"  # the copy, not the package that is installed
    command.write_text('#!/bin/sh\nexec python -m perceptrons "$@"\n')
    command.chmod(0o755)
    environment = pages.environment(PYTHONPATH=str(tmp_path / "src"), XDG_CACHE_HOME=str(tmp_path / "cache"))
    environment["PATH"] = f"{bin}:{environment['PATH']}"
    pages.follow(pages.ROOT / "docs/inside/adding.md", tmp_path, environment)
