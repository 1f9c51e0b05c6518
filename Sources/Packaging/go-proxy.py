"""Writes a folder that Go takes modules from (GOPROXY=file://…).

    go-proxy.py FOLDER VERSION     the module
    go-proxy.py FOLDER --needed    what it needs of Debian's golang.org/x, for tests without a network
"""
import os
import pathlib
import re
import sys
import zipfile

FOLDER, WHAT = pathlib.Path(sys.argv[1]), sys.argv[2]
DEBIAN = pathlib.Path("/usr/share/gocode/src/golang.org/x")
# The versions that go.mod names, and the folders that the package imports.
NEEDED = [
    ("golang.org/x/crypto", "v0.4.0", ("chacha20", "chacha20poly1305", "curve25519", "poly1305", "internal")),
    ("golang.org/x/sys", "v0.3.0", ("cpu",)),
]
PACKAGE = pathlib.Path("Sources/Languages/go")


def write(path, version, mod, files):
    """A version of a module; each file is its name and its place."""
    folder = FOLDER / re.sub("[A-Z]", lambda letter: "!" + letter[0].lower(), path) / "@v"
    folder.mkdir(parents=True)
    (folder / "list").write_text(version + "\n")
    (folder / f"{version}.info").write_text(f'{{"Version":"{version}","Time":"2025-01-01T00:00:00Z"}}')
    (folder / f"{version}.mod").write_text(mod)
    with zipfile.ZipFile(folder / f"{version}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, place in sorted(files):
            archive.writestr(zipfile.ZipInfo(f"{path}@{version}/{name}"), place.read_bytes())


def below(root, folders):
    for folder in folders:
        for at, _, names in os.walk(root / folder):
            for name in names:
                place = pathlib.Path(at, name)
                if not name.endswith("_test.go") or root == PACKAGE:
                    yield str(place.relative_to(root)), place


if WHAT != "--needed":
    write("example.com/pushcrypt/Sources/Languages/go", f"v{WHAT}", (PACKAGE / "go.mod").read_text(), below(PACKAGE, ["."]))
    sys.exit()
for path, version, folders in NEEDED:
    root = DEBIAN / path.rsplit("/", 1)[1]
    # Nothing of it needs more.
    mod = f"module {path}\n\ngo 1.17\n" + ("\nrequire golang.org/x/sys v0.3.0\n" if path.endswith("crypto") else "")
    write(path, version, mod, [*below(root, folders), ("LICENSE", pathlib.Path("/usr/share/doc/golang-golang-x-crypto-dev/copyright"))])
