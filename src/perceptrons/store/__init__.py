"""Model files, which hold no code and execute none when they are loaded; and export to ONNX.

Names are imported when they are first used, so that each loads only what it needs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptrons.store.estimators import load, save
    from perceptrons.store.format import ModelFileError
    from perceptrons.store.onnx import export_onnx, register_onnx
    from perceptrons.store.saved import Saved, read, write
    from perceptrons.store.taggers import SavedTagger

WHERE = {
    "ModelFileError": "format",
    "Saved": "saved",
    "SavedTagger": "taggers",
    "export_onnx": "onnx",
    "load": "estimators",
    "read": "saved",
    "register_onnx": "onnx",
    "save": "estimators",
    "write": "saved",
}
__all__ = ["ModelFileError", "Saved", "SavedTagger", "export_onnx", "load", "read", "register_onnx", "save", "write"]


def __getattr__(name: str) -> Any:
    if name not in WHERE:
        raise AttributeError(f"module 'perceptrons.store' has no attribute {name!r}")
    return getattr(importlib.import_module(f"perceptrons.store.{WHERE[name]}"), name)
