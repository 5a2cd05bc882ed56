"""`perceptrons serve`: models behind HTTP that learn from every example they are sent."""

from __future__ import annotations

import re
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import click

from perceptrons.cli import output

EXTRA = 'the server needs some packages: pip install "perceptrons[serve]"'
POSITIVE = click.FloatRange(0, min_open=True)
SIZES = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Size(click.ParamType):  # type: ignore[type-arg]
    """A number of bytes, such as 64M."""

    name = "size"

    def convert(self, value: Any, param: Any, context: Any) -> int:
        """Read 512, 64k, 64M or 1G."""
        text = str(value).strip().lower().removesuffix("b")
        factor = SIZES.get(text[-1:], 1)
        number = text[:-1] if text[-1:] in SIZES else text
        if not number.isdecimal() or int(number) < 1:
            self.fail(f"expected a size such as 512k, 64M or 1G, got {value!r}")
        return int(number) * factor


LIMITS: tuple[tuple[str, str, Any, Any, str], ...] = (
    ("--max-body", "body", Size(), "256M", "Largest body of a request that learns, such as 64M."),
    ("--max-question", "question", Size(), "1M", "Largest body of a request that only reads, such as a prediction."),
    ("--max-models", "models", click.IntRange(1), 100, "Maximum number of models."),
    ("--max-features", "features", click.IntRange(1), 1 << 20, "Maximum number of features of a model."),
    ("--max-classes", "classes", click.IntRange(2), 1000, "Maximum number of classes of a model."),
    (
        "--max-weights",
        "weights",
        click.IntRange(1),
        1 << 27,
        "Maximum number of weights (features times classes) of a model.",
    ),
    ("--max-pending", "pending", click.IntRange(0), 100_000, "Maximum number of predictions that wait for labels."),
    ("--pending-hours", "pending_hours", POSITIVE, 168.0, "Hours that a prediction waits for its label."),
    ("--max-queue", "queue", click.IntRange(1), 10_000, "Maximum number of requests to a model that wait."),
    ("--timeout", "timeout", POSITIVE, 30.0, "Seconds after which slow clients are cut off."),
)


def limits(command: Any) -> Any:
    """Add an option for each limit."""
    for option, name, kind, usual, about in reversed(LIMITS):
        metavar = "SIZE" if isinstance(kind, Size) else "X" if isinstance(kind, click.FloatRange) else "N"
        command = click.option(option, name, type=kind, metavar=metavar, default=usual, help=about)(command)
    return command


class Serve(click.Command):
    """A command with one subcommand: `perceptrons serve token`."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Hand over to the subcommand if it is named."""
        if args[:1] == ["token"]:
            return token.make_context(f"{info_name} token", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command("serve", cls=Serve)
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--host", default="127.0.0.1", help="Address to listen on. Other machines need tokens.")
@click.option(
    "--port", default=8000, type=click.IntRange(0, 65535), metavar="N", help="Port to listen on; 0 takes a free one."
)
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False), help="Certificate file, for HTTPS.")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False), help="Private key of the certificate.")
@limits
def command(
    directory: Path,
    host: str,
    port: int,
    tls_cert: str | None,
    tls_key: str | None,
    **given: Any,
) -> None:
    """Serve the models in DIR over HTTP: predict, learn, and never lose an example.

    Every example is in a log on the disk before its request is answered. After a crash, the models are what they were.
    A page at the address shows them as they learn.

    \b
      perceptrons serve models/
      curl -X POST localhost:8000/v1/models/spam -d '{"estimator": "Perceptron"}'
      curl localhost:8000/v1/models/spam/learn -d '{"x": {"links": 3}, "y": "spam"}'

    Without tokens, only programs on this machine can connect. To make a token:

    \b
      perceptrons serve token models/ --scope learn --name shop

    Stop it with Ctrl-C or SIGTERM: what was accepted is finished first.
    """
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key belong together: give both, or none.")
    try:
        from perceptrons.serve.limits import Limits
        from perceptrons.serve.web.app import Server
        from perceptrons.serve.web.server import run
    except ImportError as error:
        if (error.name or "").startswith("perceptrons"):
            raise
        raise ImportError(EXTRA) from error

    allowed = Limits(pending_seconds=3600.0 * given.pop("pending_hours"), **given)

    def ready(server: Server, port: int) -> None:
        address = f"[{host}]" if ":" in host else host
        scheme = "http" if tls_cert is None else "https"
        output.say(f"{scheme}://{address}:{port}  (a page; API at /openapi.json, metrics at /metrics)")
        for name, served in server.directory.models.items():
            facts = f"{served.counts[0]:,} examples, log position {served.durable:,}"
            output.say(f"  {name}: {served.create.estimator}, {served.broken or facts}")
        for path in sorted(directory.glob("*.perceptron")):
            name = re.sub(r"[^A-Za-z0-9._-]", "-", path.stem)[:64]
            if name not in server.directory.models:
                output.say(f"{path} is not served: models live in {directory / 'models'}. To make one of this file:")
                url = f"{scheme}://{address}:{port}/v1/models/{name}"
                kind = "Content-Type: application/octet-stream"
                output.say(f"  curl -H {shlex.quote(kind)} --data-binary @{shlex.quote(str(path))} {url}")
        if not server.gate.tokens.required:
            output.say("no tokens: only programs on this machine can connect. To make one:")
            output.say(f"  perceptrons serve token {directory}")
        sys.stdout.flush()

    run(
        directory,
        host=host,
        port=port,
        limits=allowed,
        certificate=tls_cert,
        key=tls_key,
        ready=ready,
        progress=_progress(),
    )


def _progress() -> Any:
    """Say how far the log of a model has been read, if that takes long."""
    begun, told = time.monotonic(), 0.0

    def tell(name: str, position: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - begun > 2.0 and now - told > 1.0:
            told = now
            output.say(f"{name}: learning the log again, position {position:,}", err=True)

    return tell


@click.command("token")
@click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--scope",
    type=click.Choice(["read", "learn", "admin"]),
    default="learn",
    help="What it allows: read (predict), learn (also learn), or admin (also create, delete, roll back).",
)
@click.option("--name", default=None, help="Name of the token, to revoke it by. By default a number.")
@click.option("--list", "lists", is_flag=True, help="List the tokens instead; they are not shown themselves.")
@click.option("--revoke", default=None, metavar="NAME", help="Delete this token instead.")
def token(directory: Path, scope: str, name: str | None, lists: bool, revoke: str | None) -> None:
    """Make a token for the server of DIR, and print it once.

    The directory keeps only a digest of it. As soon as there is a token, every request needs one; a running server
    notices within a second.

    \b
      perceptrons serve token models/ --scope read --name dashboard
      curl -H "Authorization: Bearer TOKEN" localhost:8000/v1/models
    """
    try:
        from perceptrons.serve.web.tokens import Tokens
    except ImportError as error:
        if (error.name or "").startswith("perceptrons"):
            raise
        raise ImportError(EXTRA) from error

    tokens = Tokens(directory)
    if revoke is not None:
        tokens.revoke(revoke)
        output.say(f"revoked {revoke!r}", err=True)
    elif lists:
        for each in tokens.all():
            output.say(f"{each.scope:<5}  {each.name}")
    else:
        name, text = (name, tokens.make(name, scope)) if name else tokens.make_numbered(scope)
        output.say(f"token {name!r} with the scope {scope}; it is shown only now:", err=True)
        output.say(text)
