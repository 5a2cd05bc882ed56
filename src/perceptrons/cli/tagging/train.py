"""`perceptrons tag train`: learn a tagger from files."""

from __future__ import annotations

import sys
import time
from typing import Any

import click
import numpy as np

from perceptrons.cli import output, training
from perceptrons.cli.reading import options, share_of
from perceptrons.cli.tagging import reading
from perceptrons.cli.tagging.report import Result, describe, heading, passes_of, show
from perceptrons.cli.telling.groups import Grouped
from perceptrons.cli.telling.passes import PassTable, Reader
from perceptrons.data.files import DataError
from perceptrons.data.token.vocabulary import TemplateVocabulary
from perceptrons.learn.fit import InMemory, Passes, Run, fit
from perceptrons.learn.holdout import split
from perceptrons.learn.readouts import OVER_STRUCTURES
from perceptrons.learn.sequence.iob1 import IOB1
from perceptrons.learn.sequence.learner import Corpus
from perceptrons.learn.sequence.schemes import SCHEMES, Break, obeys, recognised
from perceptrons.learn.sequence.tagger import BEAM_UPDATES, Plan, Tagger
from perceptrons.store.saved import write
from perceptrons.store.taggers import SavedTagger

K_BEST = 3  # with rules that can use several
GROUPS = {
    "Common options": ("path", "features", "columns", "target", "validation", "passes", "quiet", "as_json"),
    "Learning": (
        *("rule", *training.parameters("sentences"), "k_best", "readout", "order", "scheme", "beam", "update"),
        *("keep", "patience", "seed", "no_shuffle"),
    ),
    "Reading files": ("format", "tabs"),
    "Model file": ("drop_zeros",),
}


@click.command(
    "train",
    cls=Grouped,
    groups=GROUPS,
    epilog="FILE: plain or compressed (gzip, bzip2, zstd); patterns such as '*.conllu'; - for standard input.",
)
@reading.ARGUMENT
@click.option(
    "--features",
    required=True,
    metavar="SET|FILE",
    help="A built-in set (chunking, pos, ner, crf++), or a file of templates.",
)
@reading.COLUMNS
@click.option("--target", metavar="COLUMN", help="Column with the labels.  [default: the last; upos in CoNLL-U]")
@reading.FORMAT
@reading.TABS
@options(training.options("sentences", rule="pa1", C=0.01))  # chosen by benchmarks/tagger_defaults.py
@click.option(
    "--readout", type=click.Choice(OVER_STRUCTURES), default="averaged", help="Which weight vector makes predictions."
)
@click.option(
    "--order", type=click.IntRange(0, 2), default=1, help="Number of previous labels that a label depends on."
)
@click.option(
    "--scheme",
    type=click.Choice(["auto", "none", *SCHEMES]),
    default="auto",
    help="Which labels may follow each other; auto: the scheme that all training labels obey. "
    "IOB1 is learned as BIO and written back as IOB1.",
)
@click.option("--beam", type=click.IntRange(1), help="Number of partial labellings to keep.  [default: exact search]")
@click.option(
    "--update",
    type=click.Choice(BEAM_UPDATES),
    default=BEAM_UPDATES[0],
    help="With --beam: where in the sentence to update.",
)
@click.option(
    "--k-best",
    type=click.IntRange(1),
    help="With rules pa, pa1, pa2: number of best labellings in each update.  "
    f"[default: {K_BEST}; 1 with other rules or --beam]",
)
def command(data: tuple[str, ...], path: str, as_json: bool, quiet: bool, **given: Any) -> None:
    """Learn a tagger from the sentences of FILE and save it.

    \b
      perceptrons tag train train.txt --columns word,pos,chunk --features chunking -m chunks.tagger
      perceptrons tag train en-train.conllu --features pos --validation en-dev.conllu -m pos.tagger

    Templates make features from columns: word[0] is the word, word[-1] & word[0] the word with the one before it,
    word[0].suffix(3) its last three letters. A file has one template per line; # starts a comment. Functions: lower(),
    prefix(n), suffix(n), shape(), short_shape(), digits(), has_digit(), has_hyphen(), has_upper(), is_title(),
    is_caps(). The built-in sets chunking and crf++ need the columns word and pos, the set pos only word; ner uses pos
    if there is such a column. The set crf++ has the templates of the chunking example of CRF++.

    Without --columns, the number of columns decides their names: word, tag; word, pos, chunk; word, pos, chunk, ner
    (CoNLL-2003). In CoNLL-U, word stands for form, and pos for upos, or for xpos if upos has the labels. Lines that
    begin with -DOCSTART- are skipped.

    The default, pa1 over the 3 best labellings, makes about 4 % fewer errors than --rule perceptron, whose passes are 4
    times as fast.
    """
    begun = time.perf_counter()
    check(given)
    features = reading.templates(given["features"])
    plan, share = plan_of(given), share_of(given["validation"])
    text, features = reading.for_training(data, given, features)
    tagger = Tagger(TemplateVocabulary(features), plan)
    output.spare(path, *text.paths, given["validation"] or "", given["features"])
    if text.tokens.n_tokens == 0:
        raise DataError(f"{text.name} has no tokens")
    check_scheme(text, given["scheme"])
    corpus = tagger.prepare(text.tokens, text.labels)
    if not quiet:
        warn_of(text, tagger.given_up)
    random, held_out = np.random.RandomState(given["seed"]), None
    if share is not None:
        corpus, held_out = split(corpus, share, int(random.randint(2**31)), "sentences")
    elif given["validation"] is not None:
        other = reading.like_training((given["validation"],), text, tagger.vocabulary.columns)
        held_out = tagger.held_out(other.tokens, other.labels)
    seed = None if given["no_shuffle"] else int(random.randint(2**31))
    apart = text.tokens.n_sequences - len(corpus), text.tokens.n_tokens - corpus.sequences.n_tokens
    params, silent = params_of(given, features, share), quiet or as_json
    if not silent:
        heading(tagger, text.name, corpus, apart, params)
    run, seconds = trained(tagger, corpus, held_out, given, seed, silent)
    saved = SavedTagger(params, tagger, report_of(run, corpus), text.reading)
    facts = {"sentences": len(corpus), "tokens": corpus.sequences.n_tokens}
    saved.trained = training.noted(text.paths, time.perf_counter() - begun, **facts)
    with output.naming(path):
        write(saved, path, drop_zeros=given["drop_zeros"])
    wrong = run.afterwards(tagger.watch(corpus)) if as_json or not quiet else None
    result = Result(saved, text.name, run, wrong, apart)
    summary = describe(result, path, seconds, time.perf_counter() - begun)
    if as_json:
        output.as_json(summary)
    elif not quiet:
        show(result, summary)
    run.resume_interrupt()


def trained(
    tagger: Tagger,
    corpus: Corpus,
    held_out: Corpus | None,
    given: dict[str, Any],
    seed: int | None,
    quiet: bool,
) -> tuple[Run, float]:
    """Train; returns the run and the seconds that passes took, without compilation."""
    learner = tagger.fitted
    learner.warm_up(corpus, held_out)
    progress = Progress(corpus, given["passes"], held_out is not None, quiet)
    best = training.keeps_best(given)
    passes = Passes(given["passes"], seed=seed, patience=given["patience"], keep_best=best)
    watched = None if held_out is None else tagger.watch(held_out)
    try:
        run = fit(learner, InMemory(corpus), passes, held_out=watched, report=progress)
    finally:
        progress.clear()
    spent = time.perf_counter() - progress.begun
    if not run.learned:  # keep an older model file
        run.resume_interrupt()
    progress.end(run)
    return run, spent


def plan_of(given: dict[str, Any]) -> Plan:
    """The plan of learning that the options describe."""
    rule = training.rule_of(given)
    scheme = None if given["scheme"] == "none" else given["scheme"]
    several = given["rule"].startswith("pa") and given["beam"] is None
    k_best = given["k_best"] or (K_BEST if several else 1)
    return Plan(rule, given["readout"], given["order"], scheme, given["beam"], given["update"], k_best).check()


def params_of(given: dict[str, Any], features: Any, share: float | None) -> dict[str, Any]:
    """The parameters of the estimator that would learn the same."""
    plan = plan_of(given)
    return {
        "features": features if isinstance(features, str) else [str(template) for template in features],
        **{name: value for name, value in plan._asdict().items() if name != "eta"},
        **training.params(given, share),
    }


def report_of(run: Run, corpus: Corpus) -> dict[str, Any]:
    """The facts about training that the model file keeps."""
    return {
        "converged": run.converged,
        "stop": run.stop,
        "mistakes": run.mistakes,
        "token_mistakes": run.token_mistakes[: run.n_iter],
        "validation_errors": run.validation_errors,
        "n_tokens": corpus.sequences.n_tokens,
    }


def check_scheme(text: reading.Text, scheme: str) -> None:
    """Refuse labels that break the scheme on the command line; the error names the line."""
    if scheme in ("auto", "none"):
        return
    bounds = text.tokens.bounds
    codes, names = text.labels(bounds)
    legal = obeys(codes, bounds, names, scheme)
    if not legal.all():
        number = int(np.argmin(legal))
        shown = " ".join(names[code] for code in codes[int(bounds[number]) : int(bounds[number + 1])].tolist())
        where = reading.line_of(text, number)
        found = recognised(codes, bounds, names)
        remedy = (
            "correct them, or use --scheme none" if found is None else f"the labels are {found}: use --scheme {found}"
        )
        raise DataError(f"{where}: the labels of this sentence are not {scheme}: {shown}"[:240] + f"; {remedy}")


def warn_of(text: reading.Text, given_up: Break | None) -> None:
    """Say on standard error that labels break a scheme, and where."""
    if given_up is not None:
        scheme, sentence, token, what, broken, total = given_up
        counted = f"{broken:,} of {output.count(total, 'sentence')} {'breaks' if broken == 1 else 'break'} {scheme}"
        where = reading.line_of(text, sentence, token)
        free = "labels are learned as they are, and any" if scheme == IOB1 else "any"
        output.say(
            f"Warning: {where}: {what}: {counted}, so {free} label may follow any other. "
            f"Correct the labels, or use --scheme none to allow them, or --scheme {scheme} to make them an error.",
            err=True,
        )


def check(given: dict[str, Any]) -> None:
    """Refuse options that have no effect, and combinations that do not work."""
    idle = {} if given["beam"] is not None else {"update": "--beam"}
    if not given["rule"].startswith("pa"):
        idle["k_best"] = "--rule pa, pa1 or pa2"
    elif given["beam"] is not None:
        idle["k_best"] = "exact search, without --beam"
    training.check_idle(given, idle, "sentences")


class Progress(Reader):
    """The table of passes, as they end; and a line below it on standard error, if that is a terminal: the time left."""

    def __init__(self, corpus: Corpus, passes: int, held_out: bool, quiet: bool) -> None:
        self.corpus, self.passes, self.held_out, self.quiet = corpus, passes, held_out, quiet
        self.shown = not quiet and sys.stderr.isatty()
        self.table: PassTable | None = None
        self.begun = time.perf_counter()
        self.say("pass 1 …")

    def __call__(self, learner: object, run: Run) -> None:
        """Show the passes that have ended."""
        self.clear()
        if not self.quiet:
            with self.unless_unread():
                self._table(run).update(run.n_iter)
        more = self.passes - run.n_iter
        if more and run.going:
            left = (time.perf_counter() - self.begun) / run.n_iter * more
            self.say(f"pass {run.n_iter + 1} …  {output.seconds(left)} left for all passes")

    def end(self, run: Run) -> None:
        """Show what is missing."""
        if not self.quiet:
            with self.unless_unread():
                self._table(run).end(run.n_iter)

    def _table(self, run: Run) -> PassTable:
        self.table = self.table or passes_of(self.corpus, run, self.held_out)
        return self.table

    def say(self, line: str) -> None:
        if self.shown:
            output.redraw(line)

    def clear(self) -> None:
        """Erase the line."""
        self.say("")
