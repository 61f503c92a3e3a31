#!/usr/bin/env python3
"""Both READMEs have the same commands, headings and exit codes: README.zh-CN.md is a translation, not another state of the project."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])


def outline(name):
    commands, headings, rows, inside = [], [], 0, False
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside:
            command = re.split(r"\s+#\s", line)[0].rstrip()  # comments are translated
            if command:
                commands.append(command)
        elif line.startswith("#"):
            headings.append(line.split(" ")[0])
        elif line.startswith("|"):
            rows += 1
    return commands, headings, rows


english, chinese = outline("README.md"), outline("README.zh-CN.md")
faults = []
for left, right in zip(english[0], chinese[0]):
    if left != right:
        faults.append(f"README.md has `{left}`, README.zh-CN.md `{right}`")
        break
for what, left, right in zip(("commands", "headings", "rows of tables"), map(lambda x: x if isinstance(x, int) else len(x), english),
                             map(lambda x: x if isinstance(x, int) else len(x), chinese)):
    if left != right:
        faults.append(f"README.md has {left} {what}, README.zh-CN.md {right}")
print("\n".join(faults) or f"{len(english[0])} commands are the same")
sys.exit(1 if faults else 0)
