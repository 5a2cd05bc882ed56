"""Settings of model files, spoiled: every entry may be missing, or anything."""

import copy

ODD = (KeyError, None, True, -1, 0.5, 2**70, 1e308, "x", [], {}, {"float": "nan"}, {"float": "x"}, {"tuple": 3})
ODD += ({"dict": [[[], 1]]}, [[]], {"rule": "pickle"})


def leaves(value, way=()):
    """The ways to all entries of settings."""
    yield way
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*way, key))


def changed(settings, way, value):
    """Settings with another value at the end of a way; KeyError: with none."""
    new = copy.deepcopy(settings)
    place = new
    for key in way[:-1]:
        place = place[key]
    if value is KeyError:
        del place[way[-1]]
    else:
        place[way[-1]] = value
    return new
