"""Metrics for Prometheus: requests and their times, and the state of each model when it is asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from perceptrons.serve.model.directory import Directory

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

# Metrics of each model: name, help, whether it only grows, and how to read it.
OF_MODELS: tuple[tuple[str, str, bool, Any], ...] = (
    ("examples_learned", "Examples that the model has learned.", True, lambda m: m.counts[0]),
    ("mistakes", "Examples that the model predicted wrong before it learned them.", True, lambda m: m.counts[1]),
    ("updates", "Steps that the model has made.", True, lambda m: m.counts[2]),
    ("drifts", "How often the mistake rate rose.", True, lambda m: m.monitor.n_drifts),
    ("commits_failed", "Commits of the log that failed.", True, lambda m: m.commits_failed),
    ("window_mistake_rate", "Share of mistakes in the window.", False, lambda m: m.monitor.rate),
    ("features", "Features of the model.", False, lambda m: m.n_features),
    ("classes", "Classes of the model.", False, lambda m: len(m.room.labels)),
    ("log_position", "Requests in the log.", False, lambda m: m.durable),
    ("log_lag", "Requests that were learned, but are not in the log yet.", False, lambda m: m.position - m.durable),
    ("log_bytes", "Size of the log on the disk.", False, lambda m: m.log.n_bytes),
    ("unsnapshotted_examples", "Examples that a restart would learn again from the log.", False, lambda m: m.since),
    ("queue", "Requests that wait.", False, lambda m: m.queue),
    ("pending_labels", "Predictions that wait for their labels.", False, lambda m: len(m.pending)),
    ("broken", "1 if the model cannot be used.", False, lambda m: float(m.broken is not None)),
)


class Metrics:
    """Counts requests. Children with fixed labels are kept: finding them takes longer than counting."""

    def __init__(self, directory: Directory) -> None:
        self.directory, self.started, self.served = directory, time.monotonic(), 0
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "perceptrons_requests", "Requests by route and status.", ("route", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "perceptrons_request_seconds",
            "Time from a request to its answer.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.registry.register(self)
        self._children: dict[tuple[str, int], tuple[Any, Any]] = {}

    def count(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        found = self._children.get((route, status))
        if found is None:
            found = self.requests.labels(route, str(status)), self.seconds.labels(route)
            self._children[route, status] = found
        found[0].inc()
        found[1].observe(seconds)
        self.served += 1

    def collect(self) -> Iterator[Any]:
        """The state of all models, as Prometheus asks for it."""
        models = list(self.directory.models.items())
        for name, about, grows, read in OF_MODELS:
            family = (CounterMetricFamily if grows else GaugeMetricFamily)(
                f"perceptrons_model_{name}", about, labels=["model"]
            )
            for model, served in models:
                value = read(served)
                if value is not None:
                    family.add_metric([model], value)
            yield family
        yield GaugeMetricFamily("perceptrons_models", "Models of this server.", value=len(models))

    def describe(self) -> list[Any]:
        """Nothing is known before it is collected."""
        return []

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self.registry)
