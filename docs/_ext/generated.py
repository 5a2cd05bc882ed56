"""Directives whose content is made by the program: `picture`, `routes` and `commands`."""

from __future__ import annotations

import inspect
import os
import re
from typing import Any, ClassVar

import click
from docutils import nodes
from docutils.parsers.rst import Parser, directives
from docutils.utils import new_document
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

WIDTH = 90  # characters of a line of help


class Made(SphinxDirective):
    """A directive that writes lines of reStructuredText."""

    def lines(self) -> list[str]:
        """The content."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """Parse the content as if it stood in the page."""
        page = self.state.document
        document = new_document(os.fspath(self.env.doc2path(self.env.docname)), page.settings)
        document["_plot_counter"] = page.get("_plot_counter", 0)  # pictures of a page are numbered
        Parser().parse("\n".join(self.lines()), document)
        page["_plot_counter"] = document["_plot_counter"]
        return list(document.children)


class Picture(Made):
    """What the code draws: matplotlib's directive `plot`, which works only in reStructuredText, for Markdown pages."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required, "caption": directives.unchanged}

    def lines(self) -> list[str]:
        """The directive as reStructuredText."""
        if "alt" not in self.options:
            raise self.error("a picture needs :alt: for those who cannot see it")
        given = [f"   :{name}: {' '.join(value.split())}" for name, value in self.options.items()]
        return [".. plot::", *given, "", *(f"   {line}" for line in self.content)]


class Routes(Made):
    """The table of the server's routes."""

    def lines(self) -> list[str]:
        """One row for each route: method and path, scope, the first sentence of its function."""
        from perceptrons.serve.web.routes import ROUTES
        from perceptrons.serve.web.tokens import SCOPES

        rows = [".. list-table::", "   :header-rows: 1", "   :widths: 40 10 50", ""]
        rows += ["   * - route", "     - scope", "     - what it does"]
        for route in ROUTES:
            said = " ".join((inspect.getdoc(route.act) or "").split("\n\n")[0].split())
            scope = "none" if route.scope is None else SCOPES[route.scope]
            rows += [f"   * - ``{route.method} {route.path}``", f"     - {scope}", f"     - {said}"]
        return rows


class Commands(Made):
    """The help of the command and of each verb, as the program prints it."""

    def lines(self) -> list[str]:
        """A section for each verb."""
        from perceptrons.cli.main import group
        from perceptrons.cli.serve import token

        top = click.Context(group, info_name="perceptrons", terminal_width=WIDTH, **group.context_settings)
        return [*self.helps(top), *self.helps(click.Context(token, top, info_name="serve token"))]

    def helps(self, context: click.Context) -> list[str]:
        """The help of a command, and of its verbs."""
        command, name = context.command, context.command_path
        found = [name, "-" * len(name), "", ".. code-block:: text", ""]
        found += [f"   {line}" for line in command.get_help(context).splitlines()] + [""]
        for verb in command.list_commands(context) if isinstance(command, click.Group) else ():
            found += self.helps(click.Context(command.get_command(context, verb), context, info_name=verb))
        return found


def trimmed(app: Sphinx, docname: str, source: list[str]) -> None:
    """Doctests end with an empty line; readers need not see it."""
    source[0] = re.sub(r"\n\s*\n( *```)\n", r"\n\1\n", source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("picture", Picture)
    app.add_directive("routes", Routes)
    app.add_directive("commands", Commands)
    app.connect("source-read", trimmed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
