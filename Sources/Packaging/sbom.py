#!/usr/bin/env python3
"""Prints the bill of materials of a release, CycloneDX 1.5: its files, and what is linked into them or loaded by them.

    sbom.py FOLDER VERSION     FOLDER has the files; SOURCE_DATE_EPOCH is the time

Versions of what is loaded are those of the machine that built; others are allowed, as the packages say.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

FOLDER, VERSION = pathlib.Path(sys.argv[1]), sys.argv[2]
BUILT, LANGUAGES = pathlib.Path(".build/release"), pathlib.Path("Sources/Languages")
# The programs in each file, by the start of its name. A file that starts with none of these has no dependencies.
PROGRAMS = {
    f"pushcrypt-{VERSION}-linux-": ["pushcrypt", "pushcrypt-send", "libpushcrypt.so.0"],
    "pushcrypt_": ["pushcrypt"], "pushcrypt-send_": ["pushcrypt-send"], "libpushcrypt0_": ["libpushcrypt.so.0"],
}
found = {}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def component(kind, name, version, purl, **rest):
    found[purl] = {"type": kind, "bom-ref": purl, "name": name, **({"version": version} if version else {}), "purl": purl, **rest}
    return purl


def debian(pattern, **rest):
    """The package of this system with a file."""
    package, architecture = sorted(set(re.findall(r"^([^ :]+):([^ :]+): ", output("dpkg-query", "-S", pattern), re.M)))[0]
    version = output("dpkg-query", "-W", "-f", "${Version}", f"{package}:{architecture}")
    return component("library", package, version, f"pkg:deb/debian/{package}@{version.replace('+', '%2B')}?arch={architecture}", **rest)


def property_(name):
    return {"properties": [{"name": "pushcrypt:use", "value": name}]}


def linked():
    """In every program: Swift's standard library, and what is below it."""
    swift = re.search(r"Swift version (\S+)", output("swift", "--version"))[1]
    yield component(
        "library", "swift", swift, f"pkg:github/apple/swift@swift-{swift}-RELEASE", licenses=[{"expression": "Apache-2.0"}],
        **property_("linked statically, with the Runtime Library Exception"))
    for archive in ("libstdc++.a", "libgcc.a"):
        yield debian(os.path.realpath(output("clang", f"-print-file-name={archive}").strip()), **property_("linked statically"))


def loaded(program):
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", str(BUILT / program))):
        yield debian(f"*/{name}", **property_("loaded"))


def of_file(name):
    """What one file of the release depends on."""
    for start, programs in PROGRAMS.items():
        if name.startswith(start):
            return {*linked(), *(purl for program in programs for purl in loaded(program))}
    if name.startswith("pushcrypt-test-kit-"):
        return set()
    if name.startswith("pushcrypt-go-"):
        needed = re.findall(r"^require (\S+) (\S+)", (LANGUAGES / "go/go.mod").read_text(), re.M)
        return {component("library", n, v, f"pkg:golang/{n}@{v}", **property_("compiled with it")) for n, v in needed}
    if name.endswith((".whl", ".tar.gz")):
        needed = tomllib.loads((LANGUAGES / "python/pyproject.toml").read_text())["project"]["dependencies"]
        names = [re.fullmatch(r"([a-z]+)(>=.*)", text).groups() for text in needed]
        return {component("library", n, None, f"pkg:pypi/{n}", **property_(f"installed with it: {v}")) for n, v in names}
    return set()


files, edges, digests = [], [], ""
for path in sorted(FOLDER.iterdir()):
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    digests += f"{digest}  {path.name}\n"
    files.append({
        "type": "file", "bom-ref": path.name, "name": path.name, "version": VERSION, "hashes": [{"alg": "SHA-256", "content": digest}],
        "licenses": [{"license": {"id": "ISC"}}]})
    edges.append({"ref": path.name, "dependsOn": sorted(of_file(path.name))})
root = f"pkg:generic/pushcrypt@{VERSION}"
time = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
print(json.dumps({
    "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
    # The same files have the same number.
    "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digests)}",
    "metadata": {
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "component": {
            "type": "application", "bom-ref": root, "name": "pushcrypt", "version": VERSION, "purl": root,
            "licenses": [{"license": {"id": "ISC"}}]},
    },
    "components": files + sorted(found.values(), key=lambda item: item["bom-ref"]),
    "dependencies": [{"ref": root, "dependsOn": [item["bom-ref"] for item in files]}, *edges],
}, indent=1))
