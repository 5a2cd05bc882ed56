"""The lab: a page on which one sees a perceptron learn, update by update, beside the proof that it must stop.

`scene` holds what a page shows: points and choices. `recording` trains and records, `proofs` decides and bounds; both
call the library as any program does. `web/` serves the page, and `page/` is the page itself.
"""
