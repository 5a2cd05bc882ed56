"""The perceptron of the textbooks: the last weights predict, and there are as many passes as needed."""

from perceptrons import KernelPerceptron, Perceptron

MANY = 10**7


def textbook(**settings):
    return Perceptron(**{"readout": "last", "max_iter": MANY, **settings})


def textbook_kernel(**settings):
    return KernelPerceptron(**{"rule": "perceptron", "readout": "last", "max_iter": MANY, **settings})
