"""Every exported name of a Go module has a comment, except in tests and internal packages.

    documented.py FOLDER
"""
import pathlib
import re
import sys

EXPORTED = re.compile(r"^(?:func (?:\(\w+ \*?[A-Z]\w*\) )?|type |var |const |\t)(?P<name>[A-Z]\w*)\b(?P<rest>.*)")
missing = []
for path in pathlib.Path(sys.argv[1]).rglob("*.go"):
    if "internal" in path.parts or path.name.endswith("_test.go"):
        continue
    before, block = "", ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = EXPORTED.match(line)
        if line.startswith(("type ", "const (", "var ", "func ")):
            block = line.split()[0] + (" struct" if line.endswith("struct {") else "")
        own = found and not (line.startswith("\t") and block not in ("const",))
        if own and not before.lstrip().startswith("//") and not (line.startswith("\t") and "=" in found["rest"]):
            missing.append(f"{path}:{number}: {found['name']}")
        before = line
if missing:
    sys.exit("packages: go: not documented: " + ", ".join(missing))
