"""A server that learns: models behind HTTP, each with a log from which it can be rebuilt bit for bit.

`web/` reads requests and sends answers; `model/` learns and keeps the log. A request goes from a route
(`web/routes.py`) to a verb (`web/verbs.py`) and to a `Served` model (`model/served.py`), which learns by the functions
in `model/learning.py` and hands the record to its log (`model/log.py`). Nothing here trains: the estimators do.
"""
