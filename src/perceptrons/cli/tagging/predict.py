"""`perceptrons tag predict`: label the tokens of files."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import click
import numpy as np

from perceptrons.cli import output
from perceptrons.cli.reading import options, tagger_in
from perceptrons.cli.tagging import reading
from perceptrons.data import files
from perceptrons.data.files import DataError
from perceptrons.data.token.conll import CONLLU, ColumnsError, with_labels
from perceptrons.data.token.tokens import Lines, Tokens
from perceptrons.learn.sequence.tagger import Tagger
from perceptrons.store.taggers import SavedTagger


@click.command("predict", epilog="Files are read in the same way as the training files; they may lack labels.")
@click.argument("model", metavar="MODEL")
@reading.ARGUMENT
@click.option(
    *("-o", "--output", "path"),
    type=click.Path(dir_okay=False),
    callback=output.target,
    help="Write to this file; it appears only when complete.",
)
@click.option("--tokens", "plain", is_flag=True, help="Read one sentence per line, with spaces between words.")
@click.option(
    "--k-best",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Print the N best labellings of each sentence, with their scores.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per sentence, with tokens and labels.")
@click.option("--target", metavar="COLUMN", help="CoNLL-U: column to write labels to.  [default: as trained]")
@options(reading.OPTIONS)
def command(
    model: str, data: tuple[str, ...], path: str | None, plain: bool, k_best: int | None, as_json: bool, **given: Any
) -> None:
    """Label the tokens of FILE with MODEL.

    Prints each line with the predicted label as a new last column, which is the format that conlleval reads. In
    CoNLL-U, labels replace the content of their column, and everything else stays as it is. Labels that contain a line
    break or a tab need --json. On a terminal, control characters are shown as \\x1b.

    \b
      perceptrons tag predict chunks.tagger new.txt -o labelled.txt
      echo "the cat sleeps" | perceptrons tag predict pos.tagger - --tokens
    """
    saved = tagger_in(model, "predict")
    if plain:
        paths, tokens, column = files.expand(data), _words(data, saved), None
    else:
        text = _columns(data, given, saved)
        paths, tokens = text.paths, text.tokens
        column = CONLLU.index(text.reading.target) if text.reading.conllu else None
    output.spare(path, model, *paths)
    if tokens.n_tokens == 0:
        raise DataError(f"{files.display(paths)} has no tokens")
    with output.written(path) as file:
        for piece in pieces(saved.tagger, tokens, column, k_best, as_json):
            file.write(piece)
    if path is not None and not as_json:
        output.say(f"labels of {told(tokens)} written to {path}", err=True)


def _columns(data: tuple[str, ...], given: dict[str, Any], saved: SavedTagger) -> reading.Text:
    """Read one token per line; if the model needs only words, errors suggest --tokens."""
    known, words = saved.reading, len(saved.tagger.vocabulary.columns) == 1
    hint = "if each line is a sentence, use --tokens"
    try:
        text = reading.for_model(data, given, saved, labels=False)
    except ColumnsError as error:
        raise (DataError(f"{error}; {hint}") if words else error) from None
    lines = text.tokens.lines
    if words and not text.reading.conllu and given["columns"] is None and lines is not None and text.tokens.n_tokens:
        most = len(known.columns) if known is not None and not known.conllu else 2
        found = len(lines.text[int(lines.begins[0]) : int(lines.ends[0])].split(b"\t" if text.reading.tabs else None))
        if found > most:
            expected = f"{output.count(found, 'column')}, expected at most {most}"
            raise DataError(f"{text.name}: {expected}: name them with --columns; {hint}")
    return text


def told(tokens: Tokens) -> str:
    """Format the number of sentences and tokens."""
    return f"{output.count(tokens.n_sequences, 'sentence')}, {output.count(tokens.n_tokens, 'token')}"


def _words(data: tuple[str, ...], saved: SavedTagger) -> Tokens:
    """Read one sentence per line, and skip blank lines."""
    needed = saved.tagger.vocabulary.columns
    if len(needed) != 1:
        what = f"the columns {', '.join(needed)}" if needed else "features that files do not have"
        raise click.UsageError(f"--tokens reads only words, but the model needs {what}")
    sentences = []
    for path in files.expand(data):
        name = files.display([path])
        try:
            with files.open_binary(path) as stream:
                for number, line in enumerate(stream.read().splitlines(), start=1):
                    try:
                        sentences += [line.decode().split()] if line.strip() else []
                    except UnicodeDecodeError:
                        raise DataError(f"{name}:{number}: the line is not UTF-8") from None
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{name} cannot be read: {error}") from error
    return Tokens.of(sentences, needed)


def pieces(tagger: Tagger, tokens: Tokens, column: int | None, k: int | None, as_json: bool) -> Iterator[bytes]:
    """Yield the output, sentence by sentence or all at once."""
    names = [str(label) for label in tagger.labels]
    if not as_json:
        output.on_one_line(names, tabs=False)
    lines = tokens.lines or _lines(tokens)
    if k is None:
        codes, _ = tagger.predict(tokens)
        labels = [names[code] for code in codes.tolist()]
        if not as_json:
            yield with_labels(lines, labels, column)
            return
    else:
        found, scores, _ = tagger.k_best(tokens, k)
    words = _column(tokens)
    for i, (begin, end) in enumerate(pairwise(tokens.bounds.tolist())):
        if k is None:
            yield _object({"tokens": words[begin:end], "labels": labels[begin:end]})
            continue
        best = [
            ([names[code] for code in found[j, begin:end].tolist()], score)
            for j, score in enumerate(scores[i].tolist())
            if score > -np.inf
        ]
        if as_json:
            told = [{"labels": each, "score": score} for each, score in best]
            yield _object({"tokens": words[begin:end], "labellings": told})
            continue
        sentence = _sentence(lines, begin, end)
        for number, (each, score) in enumerate(best, start=1):
            yield f"# labelling {number} of {len(best)}, score {score:.6g}\n".encode()
            yield with_labels(sentence, each, column).strip(b"\r\n") + b"\n\n"


def _object(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode() + b"\n"


def _column(tokens: Tokens) -> list[str]:
    """The first column, token by token."""
    codes, types = next(iter(tokens.columns.values()))
    return [types[code] for code in codes.tolist()]


def _lines(tokens: Tokens) -> Lines:
    """Tokens as text: one per line, and a blank line after each sentence."""
    words, ends = _column(tokens), set(tokens.bounds.tolist())
    parts = [word.encode() for word in words]
    gaps = [1 + (number in ends) for number in range(1, len(parts) + 1)]
    stops = np.cumsum([len(part) + gap for part, gap in zip(parts, gaps, strict=True)])
    text = b"".join(part + b"\n" * gap for part, gap in zip(parts, gaps, strict=True))
    closes = stops - gaps
    begins = np.concatenate([[0], stops[:-1]])
    return Lines(text, begins.astype(np.uint64), closes.astype(np.uint64))


def _sentence(lines: Lines, begin: int, end: int) -> Lines:
    """The lines of consecutive tokens, with what stands before them."""
    first = int(lines.ends[begin - 1]) if begin else 0
    text = lines.text[first : int(lines.ends[end - 1])]
    shift = np.uint64(first)
    return Lines(text, lines.begins[begin:end] - shift, lines.ends[begin:end] - shift)
