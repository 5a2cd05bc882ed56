"""`perceptrons tag train`: learn a tagger from files."""

from __future__ import annotations

import sys
import time
from typing import Any

import click

from perceptrons.cli import output
from perceptrons.cli.reading import options, share_of
from perceptrons.cli.tagging import reading
from perceptrons.cli.tagging.preparing import Prepared, prepared
from perceptrons.cli.tagging.report import Result, describe, heading, passes_of, show
from perceptrons.cli.telling.groups import Grouped
from perceptrons.cli.telling.passes import PassTable, Reader
from perceptrons.cli.training import cluster, shared
from perceptrons.learn.fit import Passes, Run, fit
from perceptrons.learn.readouts import OVER_STRUCTURES
from perceptrons.learn.sequence.schemes import SCHEMES
from perceptrons.learn.sequence.shards import Sizes
from perceptrons.learn.sequence.tagger import BEAM_UPDATES, K_BEST, RULE, Plan, usual_k_best
from perceptrons.store.saved import write
from perceptrons.store.taggers import SavedTagger

GROUPS = {
    "Common options": ("path", "features", "columns", "target", "validation", "passes", "quiet", "as_json"),
    "Learning": (
        *("rule", *shared.parameters("sentences"), "k_best", "readout", "order", "scheme", "beam", "update"),
        *("keep", "patience", "seed", "no_shuffle"),
    ),
    "Reading files": ("format", "tabs"),
    **cluster.GROUP,
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
@options(shared.options("sentences", rule="pa1", C=RULE.C))
@click.option(
    "--readout", type=click.Choice(OVER_STRUCTURES), default="averaged", help="Which weight vector makes predictions."
)
@click.option(
    "--order",
    type=click.IntRange(0, 2),
    metavar="N",
    default=1,
    help="Number of previous labels that a label depends on.",
)
@click.option(
    "--scheme",
    type=click.Choice(["auto", "none", *SCHEMES]),
    default="auto",
    help="Which labels may follow each other; auto: the scheme that all training labels obey. "
    "IOB1 is learned as BIO and written back as IOB1.",
)
@click.option(
    "--beam",
    type=click.IntRange(1),
    metavar="N",
    help="Number of partial labellings that the search keeps.  [default: exact search]",
)
@click.option(
    "--update",
    type=click.Choice(BEAM_UPDATES),
    default=BEAM_UPDATES[0],
    help="With --beam: update where the right labelling is furthest behind (max_violation), or where the search loses "
    "it (early).",
)
@click.option(
    "--k-best",
    type=click.IntRange(1),
    metavar="N",
    help="With rules pa, pa1, pa2: number of best labellings in each update.  "
    f"[default: {K_BEST}; 1 with other rules or --beam]",
)
@options(cluster.OPTIONS)
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
    times as fast (benchmarks/tagger_defaults.py).
    """
    begun = time.perf_counter()
    check(given)
    cluster.check(given)
    plan, silent = plan_of(given), quiet or as_json
    progress = Progress(given["passes"], given["validation"] is not None, silent)
    with prepared(data, given, plan, path, quiet, progress.shards) as task:
        params = params_of(given, task.features, share_of(given["validation"]))
        if not silent:
            heading(task.tagger, task.name, task.sizes, params)
        run, seconds = trained(task, given, progress)
        saved = SavedTagger(params, task.tagger, report_of(run, task.sizes), task.reading)
        facts = {"sentences": task.sizes.sentences, "tokens": task.sizes.tokens}
        saved.trained = shared.noted(task.paths, time.perf_counter() - begun, **facts)
        with output.naming(path):
            write(saved, path, drop_zeros=given["drop_zeros"])
        wrong = run.afterwards(task.training_error) if as_json or not quiet else None
    result = Result(saved, task.name, run, wrong, task.sizes.held_sentences)
    summary = describe(result, path, seconds, time.perf_counter() - begun)
    if as_json:
        output.as_json(summary)
    elif not quiet:
        show(result, summary)
    run.resume_interrupt()


def trained(task: Prepared, given: dict[str, Any], progress: Progress) -> tuple[Run, float]:
    """Train; returns the run and the seconds that passes took, without compilation."""
    learner = task.tagger.fitted
    task.warm_up()
    progress.begin(task.sizes)
    best = shared.keeps_best(given)
    passes = Passes(given["passes"], seed=task.seed, patience=given["patience"], keep_best=best)
    try:
        run = fit(learner, task.material, passes, held_out=task.held_out, report=progress)
    finally:
        progress.clear()
    spent = time.perf_counter() - progress.begun
    if not run.learned:  # keep an older model file
        run.resume_interrupt()
    progress.end(run)
    return run, spent


def plan_of(given: dict[str, Any]) -> Plan:
    """The plan of learning that the options describe."""
    rule = shared.rule_of(given)
    scheme = None if given["scheme"] == "none" else given["scheme"]
    k_best = given["k_best"] or usual_k_best(rule, given["beam"])
    return Plan(rule, given["readout"], given["order"], scheme, given["beam"], given["update"], k_best).check()


def params_of(given: dict[str, Any], features: Any, share: float | None) -> dict[str, Any]:
    """The parameters of the estimator that would learn the same."""
    plan = plan_of(given)
    return {
        "features": features if isinstance(features, str) else [str(template) for template in features],
        **{name: value for name, value in plan._asdict().items() if name != "eta"},
        **shared.params(given, share),
    }


def report_of(run: Run, sizes: Sizes) -> dict[str, Any]:
    """The facts about training that the model file keeps."""
    return {
        "converged": run.converged,
        "stop": run.stop,
        "mistakes": run.mistakes,
        "token_mistakes": run.token_mistakes[: run.n_iter],
        "validation_errors": run.validation_errors,
        "n_tokens": sizes.tokens,
    }


def check(given: dict[str, Any]) -> None:
    """Refuse options that have no effect, and combinations that do not work."""
    idle = {} if given["beam"] is not None else {"update": "--beam"}
    if not given["rule"].startswith("pa"):
        idle["k_best"] = "--rule pa, pa1 or pa2"
    elif given["beam"] is not None:
        idle["k_best"] = "exact search, without --beam"
    shared.check_idle(given, idle, "sentences")


class Progress(Reader):
    """The table of passes, as they end; and a line below it on standard error, if that is a terminal: the time left."""

    line = "reading …"  # what is shown before the first pass

    def __init__(self, passes: int, held_out: bool, quiet: bool) -> None:
        self.passes, self.held_out, self.quiet = passes, held_out, quiet
        self.shown = not quiet and sys.stderr.isatty()
        self.table: PassTable | None = None

    def begin(self, sizes: Sizes) -> None:
        """Begin the first pass over this many sentences and tokens."""
        self.sizes, self.begun = sizes, time.perf_counter()
        self._begin("pass 1 …")

    def __call__(self, learner: object, run: Run) -> None:
        """Show the passes that have ended."""
        self.clear()
        if not self.quiet:
            with self.unless_unread():
                self._table(run).update(run.n_iter)
        more = self.passes - run.n_iter
        if more and run.going:
            left = (time.perf_counter() - self.begun) / run.n_iter * more
            self._begin(f"pass {run.n_iter + 1} …  {output.seconds(left)} left for all passes")

    def shards(self, done: int, n: int) -> None:
        """Show how many shards are done in this pass."""
        self.say(f"{self.line}  {done:,} of {output.count(n, 'shard')} done")

    def end(self, run: Run) -> None:
        """Show what is missing."""
        if not self.quiet:
            with self.unless_unread():
                self._table(run).end(run.n_iter)

    def _table(self, run: Run) -> PassTable:
        self.table = self.table or passes_of(self.sizes, run, self.held_out)
        return self.table

    def _begin(self, line: str) -> None:
        self.line = line
        self.say(line)

    def say(self, line: str) -> None:
        if self.shown:
            output.redraw(line)

    def clear(self) -> None:
        """Erase the line."""
        self.say("")
