"""Print the coverage of each folder, and the lines that no test runs, from the output of `coverage json`."""

import json
import sys
from collections import Counter
from pathlib import PurePath

files = json.load(sys.stdin)["files"]
lines, missed = Counter(), Counter()
for path, file in sorted(files.items()):
    for folder in (str(PurePath(path).parent), "total"):
        lines[folder] += file["summary"]["num_statements"]
        missed[folder] += file["summary"]["missing_lines"]
    if file["missing_lines"]:
        print(f"{path}: {', '.join(map(str, file['missing_lines']))}")
print(f"\n{'folder':40} {'lines':>7} {'missed':>7} {'covered':>8}")
for folder in [*sorted(lines.keys() - {"total"}), "total"]:
    if lines[folder]:
        covered = 1 - missed[folder] / lines[folder]
        print(f"{folder:40} {lines[folder]:7} {missed[folder]:7} {covered:8.1%}")
