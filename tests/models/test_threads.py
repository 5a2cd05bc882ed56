"""Threads that share one model: learning is exclusive, and predictions see a whole hypothesis."""

import copy
import os
import pickle
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from structured_cases import Classes

from perceptrons import (
    KernelPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
    SequenceTagger,
    StructuredPerceptron,
    load,
    save,
)

CALLS = 40  # calls of each learning thread


def rows(seed, n=6, width=8):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, width)), random.integers(2, size=n)


def all_at_once(*works):
    """Run functions in threads of their own, and raise the first error of each."""
    begin = threading.Barrier(len(works))

    def run(work):
        begin.wait()
        work()

    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(run, work) for work in works]:
            done.result()


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(readout="last"),
        Perceptron(readout="averaged"),
        Perceptron(readout="voted"),
        PassiveAggressiveClassifier(),
        KernelPerceptron(rule="perceptron", readout="last"),
        KernelPerceptron(rule="perceptron", readout="voted"),
        KernelPerceptron(budget=5),
    ],
    ids=repr,
)
def test_classifiers_learn_one_call_after_another(model, tmp_path):
    """Four threads learn, each with classes of its own, while others predict and save."""
    model.partial_fit(*rows(0))
    stop = threading.Event()

    def learn(which):
        def work():
            for call in range(CALLS):
                X, y = rows(call)
                model.partial_fit(X, y + 2 * which * (call % 5 == 0))
            finished.release()

        return work

    def predict():
        X = rows(1, n=50)[0]
        while not stop.is_set():
            assert set(model.predict(X)) <= set(model.classes_)

    def store():
        path = tmp_path / "model.safetensors"
        while not stop.is_set():
            save(model, path)
            assert load(path).predict(rows(2)[0]).shape == (6,)

    def end():
        for _ in range(4):
            finished.acquire()
        stop.set()

    finished = threading.Semaphore(0)
    all_at_once(*(learn(which) for which in range(4)), predict, store, end)
    assert model.n_seen_ == 6 * (1 + 4 * CALLS)
    assert model.classes_.tolist() == list(range(8))


def test_the_order_of_threads_decides_the_result():
    """The model that threads make is one that some order of their calls makes."""
    parts = [rows(seed) for seed in range(3)]
    expected = set()
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        model = Perceptron(readout="averaged")
        for number in order:
            model.partial_fit(*parts[number])
        expected.add(model.coef_.tobytes())
    for _ in range(10):
        model = Perceptron(readout="averaged")
        all_at_once(*(partial(model.partial_fit, *part) for part in parts))
        assert model.coef_.tobytes() in expected


def test_predictions_see_the_model_before_or_after_fit():
    """A model that alternates between two data sets predicts by one of two hypotheses, never by a mixture."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 5))
    narrow, wide = X[:, 0] > 0, (X[:, 1] > 0) + 10 * (X[:, 2] > 0)
    model, test = Perceptron(max_iter=5), random.normal(size=(20, 5))
    possible = {Perceptron(max_iter=5).fit(X, y).predict(test).astype(int).tobytes() for y in (narrow, wide)}
    model.fit(X, narrow)
    stop = threading.Event()

    def learn():
        for _ in range(20):
            model.fit(X, wide).fit(X, narrow)
        stop.set()

    def predict():
        while not stop.is_set():
            assert model.predict(test).astype(int).tobytes() in possible

    all_at_once(learn, predict, predict)


@pytest.mark.parametrize("features", [None, "pos"])
def test_taggers(features, tmp_path):
    model = SequenceTagger(features=features)
    stop = threading.Event()

    def sentence(number):
        words = [f"w{number % 50}", f"v{number}", "x"]
        return words if features else [[word] for word in words]

    model.partial_fit([sentence(0)], [["A", "B", "A"]])

    def learn(which):
        def work():
            for call in range(CALLS):
                model.partial_fit([sentence(4 * call + which)], [["A", f"L{which}{call % 3}", "B"]])
            if which == 0:
                stop.set()

        return work

    def predict():
        while not stop.is_set():
            (found,) = model.predict([sentence(3)])
            assert set(found) <= set(model.classes_)

    def store():
        while not stop.is_set():
            save(model, tmp_path / "model.safetensors")
            assert load(tmp_path / "model.safetensors").predict([sentence(3)])

    all_at_once(learn(0), learn(1), predict, predict, store)
    assert model.n_seen_ == 1 + 2 * CALLS


def test_structures():
    model = StructuredPerceptron(Classes()).partial_fit([[1.0, 0.0]], [1])

    def learn():
        random = np.random.default_rng(0)
        for _ in range(CALLS):
            x = random.normal(size=2)
            model.partial_fit([x.tolist()], [int(x[0] > 0)])

    def predict():
        for _ in range(CALLS):
            assert len(model.predict([[1.0, 2.0]])) == 1

    all_at_once(learn, learn, predict)
    assert model.n_seen_ == 1 + 2 * CALLS


def test_copies_have_locks_of_their_own():
    """A copy can be used while the original is locked by another thread, and pickles hold no locks."""
    model = Perceptron().fit(*rows(0))
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]

    def use():
        for each in copies:
            each.partial_fit(*rows(1))

    with model._guard.learning:
        worker = threading.Thread(target=use)
        worker.start()
        worker.join(30)
        assert not worker.is_alive()


def test_threads_that_live_at_the_same_time_do_not_wait_for_each_other_to_predict():
    """Eight of them, even if many threads have used models before."""
    model, inside = Perceptron().fit(*rows(0)), threading.Barrier(8)
    for _ in range(20):
        one = threading.Thread(target=lambda: model.predict(rows(0)[0]))
        one.start()
        one.join()

    def read():
        with model._guard.mine():
            inside.wait(30)

    all_at_once(*[read] * 8)


# -- forks ------------------------------------------------------------------------------------------------------------

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
quiet = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # it is about threads, which are tested here


def in_child(work):
    """The text that `work` returns in a child of this process, or its error. A child that hangs is killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(30)
            try:
                said = str(work())
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
            os.write(writer, said.encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


@contextmanager
def meanwhile(begin):
    """Another thread calls `begin` with a function, which it calls in the middle of what it does and which waits."""
    inside, end = threading.Event(), threading.Event()

    def hold():
        inside.set()
        assert end.wait(60)

    thread = threading.Thread(target=begin, args=(hold,))
    thread.start()
    assert inside.wait(60)
    try:
        yield
    finally:
        end.set()
        thread.join()


USES = {
    "predict": lambda model: model.predict(rows(0)[0]),
    "predict_one": lambda model: model.predict_one(rows(0)[0][0]),
    "partial_fit": lambda model: model.partial_fit(*rows(0)),
    "learn_one": lambda model: model.learn_one(rows(0)[0][0], 1),
    "fit": lambda model: model.fit(*rows(0)),
    "in a grandchild": lambda model: in_child(lambda: model.predict(rows(0)[0])),
}


def owned(model, hold):
    """Learn as the owner, and be in the middle of it."""
    model.learn_one(rows(0)[0][0], 1).learn_one(rows(0)[0][1], 0)
    assert model._guard.owner.thread == threading.get_ident()
    model._guard.quickly(hold)


@forks
@quiet
@pytest.mark.parametrize("learns", [lambda model, hold: model._guard.change(hold), owned], ids=["change", "owner"])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_model_that_was_half_changed_at_a_fork_is_refused_in_the_child(use, learns):
    model, other = Perceptron(), Perceptron().fit(*rows(0))
    model.fit(*rows(0))
    with meanwhile(partial(learns, model)):
        assert "RuntimeError: this process was forked while another thread changed" in in_child(lambda: use(model))
        assert "Error" not in in_child(lambda: use(other))
    assert "Error" not in in_child(lambda: use(model))
    use(model)  # the parent goes on


def reads(model, hold):
    with model._guard.mine():
        model._guard.settle()
        hold()


def trains(model, hold):
    with model._guard.learning:
        model._guard.settle()
        hold()


def owns(model, hold):
    for x, y in zip(*rows(0), strict=True):
        model.learn_one(x, y)
    hold()


@forks
@quiet
@pytest.mark.parametrize("begin", [reads, trains, owns, lambda model, hold: model._guard.alone(hold)])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_model_that_is_whole_can_be_used_after_a_fork(use, begin):
    """Although threads held its locks that do not exist in the child."""
    model = Perceptron().fit(*rows(0))
    with meanwhile(partial(begin, model)):
        assert "Error" not in in_child(lambda: use(model)) != ""


@forks
@quiet
def test_a_thread_that_learns_may_fork():
    """Its own locks stay its own in the child."""
    model = Perceptron().fit(*rows(0))
    found = model._guard.change(lambda: in_child(lambda: model.partial_fit(*rows(1)).n_seen_))
    assert int(found) == Perceptron().fit(*rows(0)).partial_fit(*rows(1)).n_seen_


@forks
@quiet
def test_children_do_not_hang_whenever_they_are_forked():
    model, stop = Perceptron().fit(*rows(0)), threading.Event()

    def learn():
        while not stop.is_set():
            model.partial_fit(*rows(1, n=300))

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        said = [in_child(lambda: model.predict(rows(0)[0]).shape) for _ in range(30)]
    finally:
        stop.set()
        thread.join()
    assert all(each == "(6,)" or each.startswith("RuntimeError: this process was forked") for each in said), said
