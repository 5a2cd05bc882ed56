"""`perceptrons tag train`: from files of sentences to a tagger."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from perceptrons import __version__, rules
from perceptrons.cli import output
from perceptrons.cli.reading import share_of
from perceptrons.cli.tagging import reading
from perceptrons.cli.tagging.report import Result, describe, show
from perceptrons.core.linear.readouts import OVERFLOW, SEEN
from perceptrons.data.files import STDIN, DataError
from perceptrons.data.token.vocabulary import TemplateVocabulary
from perceptrons.learn.fit import Run, orders_of
from perceptrons.learn.sequence.schemes import SCHEMES, obeys
from perceptrons.learn.sequence.tagger import READOUTS, UPDATES, Corpus, Plan, Tagger
from perceptrons.store.saved import write
from perceptrons.store.taggers import SavedTagger


@click.command("train", epilog="Files: plain, gzip, bzip2 or zstd; globs; - is stdin.")
@reading.ARGUMENT
@click.option(
    *("-m", "--model", "path"),
    required=True,
    type=click.Path(dir_okay=False),
    callback=output.target,
    help="Where to save the tagger.",
)
@click.option(
    "--features", required=True, metavar="SET|FILE", help="chunking, pos, ner or crf++; or a file of templates."
)
@reading.COLUMNS
@click.option("--target", metavar="COLUMN", help="Column of the labels.  [default: the last; upos in CoNLL-U]")
@reading.FORMAT
@reading.TABS
@click.option(
    "--rule", type=click.Choice(list(rules.RULES)), default="perceptron", show_default=True, help="How far a step goes."
)
@click.option(
    "--C", "C", type=float, default=1.0, show_default=True, help="How far steps go: the most in pa1, softly in pa2."
)
@click.option("--beta", type=float, default=1.0, show_default=True, help="Margin that the rule margin asks for.")
@click.option("--readout", type=click.Choice(READOUTS), default="averaged", show_default=True, help="What predicts.")
@click.option(
    "--order", type=click.IntRange(0, 2), default=1, show_default=True, help="Labels before a label that count."
)
@click.option(
    "--scheme",
    type=click.Choice(["auto", "none", *SCHEMES]),
    default="auto",
    show_default=True,
    help="What may follow what; auto: as all training labels obey.",
)
@click.option("--beam", type=click.IntRange(1), help="Keep so many beginnings; default: search exactly.")
@click.option(
    "--update",
    type=click.Choice(UPDATES),
    default=UPDATES[0],
    show_default=True,
    help="With a beam: where a step is made.",
)
@click.option(
    "--k-best",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="With a rule pa…: step by so many best labellings.",
)
@click.option("--passes", type=click.IntRange(1), default=10, show_default=True, help="At most so many.")
@click.option(
    "--validation", metavar="SHARE|FILE", help="Take the error on a share (0.1) of the sentences, or on a file."
)
@click.option(
    "--patience",
    type=click.IntRange(1),
    help="Stop after so many passes without a smaller held-out error, keep the best.  [default: keep the last]",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of the random order.")
@click.option("--no-shuffle", is_flag=True, help="Keep the order of the sentences.")
@click.option("--drop-zeros", is_flag=True, help="Save only features that have weights: a smaller file, nothing lost.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
@output.JSON
def command(data: tuple[str, ...], path: str, as_json: bool, quiet: bool, **given: Any) -> None:
    """Learn a tagger from the sentences of FILE and save it.

    Features are made of columns by templates: word[0] is the word, word[-1] & word[0] it with the one before,
    word[0].suffix(3) its end. A file has one a line, # begins a comment. Functions: lower(), prefix(n), suffix(n),
    shape(), short_shape(), digits(), has_digit(), has_hyphen(), has_upper(), is_title(), is_caps(). The ready sets
    take columns word and pos, the set pos word only; crf++ is that of CRF++'s example of chunking. In CoNLL-U,
    templates may say word for form, and pos for upos, or for xpos where upos has the labels.

    \b
      perceptrons tag train train.txt --columns word,pos,chunk --features chunking --model chunks.tagger
      perceptrons tag train en-train.conllu --features pos --validation en-dev.conllu --model pos.tagger
    """
    begun = time.perf_counter()
    check_idle(given)
    features = reading.templates(given["features"])
    tagger = Tagger(TemplateVocabulary(features), plan_of(given))
    needed = tagger.vocabulary.columns
    share = share_of(given["validation"])
    text = reading.for_training(data, given, needed)
    output.spare(path, *text.paths, given["validation"] or "", given["features"])
    if text.tokens.n_tokens == 0:
        raise DataError(f"{text.name} has no tokens")
    check_scheme(text, given["scheme"])
    corpus = tagger.prepare(text.tokens, text.labels)
    random = np.random.RandomState(given["seed"])
    held_out = None
    if share is not None:
        corpus, held_out = corpus.split(share, random)
    elif given["validation"] is not None:
        other = reading.like_training((given["validation"],), text, needed)
        held_out = tagger.held_out(other.tokens, other.labels)
    seed = None if given["no_shuffle"] else int(random.randint(2**31))
    make_ready(tagger, corpus, held_out, seed)
    learning, run, interrupted = time.perf_counter(), Run(), False
    progress = Passes(corpus, quiet or as_json)
    try:
        tagger.train(
            corpus,
            run,
            seed=seed,
            max_iter=given["passes"],
            tol=None,
            held_out=held_out,
            patience=given["patience"],
            report=progress,
        )
    except KeyboardInterrupt:
        counts = tagger.learner.counts
        if counts[SEEN] == 0 or counts[OVERFLOW]:  # nothing has been learned: a model that is there is better
            raise
        interrupted = True
    finally:
        progress.clear()
    learned = time.perf_counter()
    saved = SavedTagger(params_of(given, features, share), tagger, report_of(run, corpus), text.reading)
    saved.trained = {
        "files": [os.path.abspath(name) if name != STDIN else name for name in text.paths],
        "sentences": corpus.n_rows,
        "tokens": corpus.examples.n_tokens,
        "seconds": round(learned - begun, 3),
        "date": time.strftime("%Y-%m-%d %H:%M:%S %z"),
        "version": __version__,
    }
    with output.naming(path):
        write(saved, path, drop_zeros=given["drop_zeros"])
    wrong = None
    if not interrupted and (as_json or not quiet):
        wrong = float(np.mean(tagger.learner.predict(corpus.examples) != corpus.codes))
    apart = text.tokens.n_sequences - corpus.n_rows, text.tokens.n_tokens - corpus.examples.n_tokens
    result = Result(saved, text.name, wrong, held_out_error(run, given["patience"]), apart)
    summary = describe(result, path, learned - learning, time.perf_counter() - begun)
    if as_json:
        output.as_json(summary)
    elif not quiet:
        show(result, summary)
    if interrupted:
        raise KeyboardInterrupt


def make_ready(tagger: Tagger, corpus: Corpus, held_out: Corpus | None, seed: int | None) -> None:
    """Have the kernels that passes call compiled, which is no learning: they are called with nothing to learn from."""
    nothing = orders_of(corpus.order[:0], 1, seed, 0)[0]
    before = tagger.learner.counts.copy()
    tagger.learner.learn(corpus.examples, corpus.codes, nothing)
    tagger.learner.counts[:] = before
    tagger.learner.confirms(corpus.examples.take(nothing), corpus.codes[:0])
    if held_out is not None:
        tagger.learner.predict(held_out.examples.take(nothing))


def plan_of(given: dict[str, Any]) -> Plan:
    """How to learn."""
    make = rules.RULES[given["rule"]]
    rule = rules.resolve(make(**{name: given[name] for name in ("C", "beta") if name in make._fields}))
    scheme = None if given["scheme"] == "none" else given["scheme"]
    return Plan(rule, given["readout"], given["order"], scheme, given["beam"], given["update"], given["k_best"]).check()


def params_of(given: dict[str, Any], features: Any, share: float | None) -> dict[str, Any]:
    """The parameters of the estimator that does the same."""
    plan = plan_of(given)
    return {
        "features": features if isinstance(features, str) else [str(template) for template in features],
        **{name: value for name, value in plan._asdict().items() if name != "eta"},
        "max_iter": given["passes"],
        "shuffle": not given["no_shuffle"],
        "random_state": given["seed"],
        "early_stopping": given["patience"] is not None,
        "n_iter_no_change": given["patience"] or 5,
        "validation_fraction": share or 0.1,
    }


def report_of(run: Run, corpus: Corpus) -> dict[str, Any]:
    """What happened."""
    return {
        "converged": run.converged,
        "stop": run.stop,
        "mistakes": run.mistakes,
        "token_mistakes": corpus.wrong_tokens[: run.n_iter],
        "validation_errors": run.validation_errors,
        "n_tokens": corpus.examples.n_tokens,
    }


def held_out_error(run: Run, patience: int | None) -> float | None:
    """Of the hypothesis that is kept: with patience the best, else the last; None if it was interrupted before."""
    errors = run.validation_errors
    if patience is not None and errors:
        return min(errors)
    return errors[-1] if errors and len(errors) == run.n_iter else None


def check_scheme(text: reading.Text, scheme: str) -> None:
    """Refuse labels that break a scheme which was asked for, by the line where they do."""
    if scheme in ("auto", "none"):
        return
    bounds = text.tokens.bounds
    codes, names = text.labels(bounds)
    legal = obeys(codes, bounds, names, scheme)
    if not legal.all():
        number = int(np.argmin(legal))
        shown = " ".join(names[code] for code in codes[int(bounds[number]) : int(bounds[number + 1])].tolist())
        where = reading.line_of(text, number)
        raise DataError(f"{where}: the labels of this sentence are not {scheme}: {shown}"[:240] + "; or --scheme none")


def check_idle(given: dict[str, Any]) -> None:
    """Refuse options that would change nothing, and what does not go together."""
    context, rule = click.get_current_context(), given["rule"]
    idle = {}
    if rule not in ("pa1", "pa2"):
        idle["C"] = "--rule pa1 or pa2"
    if rule != "margin":
        idle["beta"] = "--rule margin"
    if given["beam"] is None:
        idle["update"] = "--beam"
    if given["validation"] is None:
        idle["patience"] = "--validation, a share of the sentences or a file"
    if not rule.startswith("pa"):
        idle["k_best"] = "--rule pa, pa1 or pa2"
    elif given["beam"] is not None:
        idle["k_best"] = "exact search, without --beam"
    for name, needed in idle.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{name.replace('_', '-')} goes with {needed}")


class Passes:
    """One line on the terminal's error stream, about the last pass. Nothing elsewhere."""

    def __init__(self, corpus: Corpus, quiet: bool) -> None:
        self.corpus, self.shown = corpus, not quiet and sys.stderr.isatty()
        self.say("pass 1 …")

    def __call__(self, learner: Any, run: Run) -> None:
        """After a pass."""
        sentences, tokens = self.corpus.n_rows, self.corpus.examples.n_tokens
        wrong = self.corpus.wrong_tokens[-1]
        held_out = f"  held-out error {output.percent(run.validation_errors[-1])}" if run.validation_errors else ""
        self.say(
            f"pass {run.n_iter}: {run.mistakes[-1]:,} of {sentences:,} sentences wrong, "
            f"{output.count(wrong, 'token')} ({output.percent(wrong / tokens)}){held_out}"
        )

    def say(self, line: str) -> None:
        if self.shown:
            click.echo(f"\r\x1b[2K{line}", nl=False, err=True)

    def clear(self) -> None:
        """Leave no trace."""
        self.say("")
