"""Get ready to train a tagger: in this process, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from perceptrons.cli import output
from perceptrons.cli.reading import share_of
from perceptrons.cli.tagging import reading
from perceptrons.cli.training import cluster
from perceptrons.data import files
from perceptrons.data.files import DataError
from perceptrons.data.token.template_sets import columns_of
from perceptrons.data.token.vocabulary import TemplateVocabulary
from perceptrons.learn.fit import InMemory, Material
from perceptrons.learn.holdout import split
from perceptrons.learn.sequence.iob1 import IOB1
from perceptrons.learn.sequence.learner import Corpus
from perceptrons.learn.sequence.schemes import Break, obeys, recognised
from perceptrons.learn.sequence.shards import Sizes
from perceptrons.learn.sequence.tagger import Disobeyed, Plan, Tagger
from perceptrons.store.taggers import Reading


@dataclass
class Prepared:
    """Training that is ready for its first pass."""

    tagger: Tagger
    material: Material[Any]
    sizes: Sizes
    held_out: Callable[[], float] | None  # measures the held-out error
    training_error: Callable[[], float]
    warm_up: Callable[[], None]  # compiles what passes need
    seed: int | None  # for shuffling
    features: reading.Features
    reading: Reading
    paths: list[str]
    name: str  # of the files, for people


Tell = Callable[[int, int], None]  # called with the number of shards done in this pass, and of all shards


@contextmanager
def prepared(
    data: tuple[str, ...], given: dict[str, Any], plan: Plan, path: str, quiet: bool, tell: Tell
) -> Iterator[Prepared]:
    """Read the files and set up training. `path` is that of the model."""
    features = reading.templates(given["features"])
    output.spare(path, *files.expand(data), given["validation"] or "", given["features"])
    if not cluster.is_wanted(given):
        yield _here(data, given, plan, features, quiet)
        return
    source, how, features = reading.source_for_training(data, given, features)
    source.shards(1)  # refuses streams, before processes are started
    with cluster.connected(given) as client:
        from perceptrons.dask.crew import DaskCrew

        crew = DaskCrew(client, client.compute(_shards(source, how, features, given["shards"])), tell)
        yield _on_cluster(crew, files.expand(data), given, plan, features, how, quiet)


def _here(
    data: tuple[str, ...], given: dict[str, Any], plan: Plan, features: reading.Features, quiet: bool
) -> Prepared:
    """Set up training in this process."""
    text, features = reading.for_training(data, given, features)
    if text.tokens.n_tokens == 0:
        raise DataError(f"{text.name} has no tokens")
    _check_scheme(text, given["scheme"])
    tagger = Tagger(TemplateVocabulary(features), plan)
    corpus = tagger.prepare(text.tokens, text.labels)
    _warn_of(tagger.given_up, partial(reading.line_of, text), quiet)
    share, random, held_out = share_of(given["validation"]), np.random.RandomState(given["seed"]), None
    if share is not None:
        corpus, held_out = split(corpus, share, int(random.randint(2**31)), "sentences")
    elif given["validation"] is not None:
        held_out = _beside(tagger, given, text.reading)
    learned = len(corpus), corpus.sequences.n_tokens
    apart = text.tokens.n_sequences - learned[0], text.tokens.n_tokens - learned[1]
    return Prepared(
        tagger,
        InMemory(corpus),
        Sizes(*learned, *apart),
        None if held_out is None else tagger.watch(held_out),
        tagger.watch(corpus),
        lambda: tagger.fitted.warm_up(corpus, held_out),
        None if given["no_shuffle"] else int(random.randint(2**31)),
        *(features, text.reading, text.paths, text.name),
    )


def _shards(source: Any, how: Reading, features: reading.Features, n: int | None) -> list[Any]:
    """Delayed shards of files."""
    from perceptrons.dask.bags import from_files

    target, vocabulary = reading.labels_of(how), partial(TemplateVocabulary, features)
    return from_files(source, target, [*columns_of(features), target], vocabulary, n)


def _on_cluster(
    crew: Any,
    paths: list[str],
    given: dict[str, Any],
    plan: Plan,
    features: reading.Features,
    how: Reading,
    quiet: bool,
) -> Prepared:
    """Set up training on a cluster."""
    from perceptrons.learn.shards.sentences import from_sentences

    share, random, name = share_of(given["validation"]), np.random.RandomState(given["seed"]), files.display(paths)
    seed = 0 if share is None else int(random.randint(2**31))
    try:
        task = from_sentences(plan, crew, given["mixing"], share, seed, "sentences", name)
    except Disobeyed as error:
        raise _not_in(error, f"sentence {error.number + 1}") from None
    tagger, held_out = task.tagger, task.held_out
    _warn_of(tagger.given_up, _place, quiet)
    if share is None and given["validation"] is not None:
        held_out = tagger.watch(_beside(tagger, given, how))
    shuffling = None if given["no_shuffle"] else int(random.randint(2**31))
    facts = features, how, paths, name
    return Prepared(tagger, task.material, task.sizes, held_out, task.training_error, lambda: None, shuffling, *facts)


def _beside(tagger: Tagger, given: dict[str, Any], how: Reading) -> Corpus:
    """Separate held-out sentences."""
    text = reading.like_training(files.expand((given["validation"],)), how, tagger.vocabulary.columns)
    return tagger.held_out(text.tokens, text.labels)


def _place(sentence: int, token: int) -> str:
    """Where a token is, if nobody knows its line."""
    return f"sentence {sentence + 1}" + (f", token {token + 1}" if token else "")


def _check_scheme(text: reading.Text, scheme: str) -> None:
    """Refuse labels that break the scheme on the command line; the error names the line."""
    if scheme in ("auto", "none"):
        return
    bounds = text.tokens.bounds
    codes, names = text.labels(bounds)
    legal = obeys(codes, bounds, names, scheme)
    if not legal.all():
        number = int(np.argmin(legal))
        shown = " ".join(names[code] for code in codes[int(bounds[number]) : int(bounds[number + 1])].tolist())
        raise _not_in(Disobeyed(scheme, number, shown, recognised(codes, bounds, names)), reading.line_of(text, number))


def _not_in(error: Disobeyed, where: str) -> DataError:
    """The error for a sentence whose labels break the scheme on the command line."""
    found = error.found
    remedy = "correct them, or use --scheme none" if found is None else f"the labels are {found}: use --scheme {found}"
    told = f"{where}: the labels of this sentence are not {error.scheme}: {error.shown}"
    return DataError(told[:240] + f"; {remedy}")


def _warn_of(given_up: Break | None, place: Callable[[int, int], str], quiet: bool) -> None:
    """Say on standard error that labels break a scheme, and where."""
    if given_up is not None and not quiet:
        scheme, sentence, token, what, broken, total = given_up
        counted = f"{broken:,} of {output.count(total, 'sentence')} {'breaks' if broken == 1 else 'break'} {scheme}"
        free = "labels are learned as they are, and any" if scheme == IOB1 else "any"
        output.say(
            f"Warning: {place(sentence, token)}: {what}: {counted}, so {free} label may follow any other. "
            f"Correct the labels, or use --scheme none to allow them, or --scheme {scheme} to make them an error.",
            err=True,
        )
