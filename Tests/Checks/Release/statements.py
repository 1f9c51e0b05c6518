"""Checks the bill of materials and the provenance of a release: statements.py FOLDER COMMIT VERSION"""
import glob
import hashlib
import json
import pathlib
import re
import subprocess
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

FOLDER, COMMIT, VERSION = pathlib.Path(sys.argv[1]), *sys.argv[2:]


def expect(condition, what):
    if not condition:
        sys.exit(f"dist: error: {what}")


def read(suffix):
    return (FOLDER / f"pushcrypt-{VERSION}.{suffix}").read_text()


bill = json.loads(read("cdx.json"))
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(read("cdx.json"))
expect(error is None, f"the bill of materials is not CycloneDX 1.5: {error}")
sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.iterdir()}
for name in ("SHA256SUMS", f"pushcrypt-{VERSION}.provenance.json"):
    del sums[name]
statement = json.loads(read("provenance.json"))
expect({item["name"]: item["digest"]["sha256"] for item in statement["subject"]} == sums, "the provenance has other files")
definition = statement["predicate"]["buildDefinition"]
expect(definition["resolvedDependencies"][0]["digest"] == {"gitCommit": COMMIT}, "the provenance has another commit")
expect(definition["internalParameters"]["signed"] is False, "the provenance does not say that it is unsigned")
del sums[f"pushcrypt-{VERSION}.cdx.json"]
listed = {item["name"]: item for item in bill["components"]}
expect({name: item["hashes"][0]["content"] for name, item in listed.items() if item["type"] == "file"} == sums,
       "the bill of materials has other files")

# What the Debian packages depend on was found by Debian's own program.
needed = {item["ref"]: {ref.rsplit("/", 1)[-1].split("@")[0] for ref in item["dependsOn"]} for item in bill["dependencies"]}
packages = glob.glob(str(FOLDER / "*.deb"))
for package in packages:
    depends = subprocess.run(["dpkg-deb", "-f", package, "Depends"], check=True, capture_output=True, text=True).stdout
    names = {name for name in re.findall(r"([a-z0-9.+-]+) *(?:\([^)]*\))?(?:,|$)", depends.strip()) if "pushcrypt" not in name}
    ref = pathlib.Path(package).name
    expect(names <= needed[ref], f"the bill of materials lacks {names - needed[ref]} of {ref}")
    expect("-dev_" in ref or "swift" in needed[ref], f"the bill of materials lacks Swift's library in {ref}")
    expect("libpushcrypt" in ref or needed[ref] & {"libsqlite3-0", "libsqlite3-dev"}, f"the bill of materials lacks SQLite in {ref}")
expect("cryptography" in needed[f"{next(name for name in sums if name.endswith('.whl'))}"], "the wheel needs cryptography")
