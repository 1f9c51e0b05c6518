#!/usr/bin/env python3
"""Prints where the files of a release come from: an in-toto statement with SLSA provenance, which nobody has signed.

    provenance.py FOLDER     FOLDER has the files

It claims what the builder of the files could change, so it proves nothing: it says what to repeat. The same commit, toolchain and
SOURCE_DATE_EPOCH give the same files.
"""
import hashlib
import json
import os
import pathlib
import platform
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


system = dict(re.findall(r'^(\w+)="?(.*?)"?$', pathlib.Path("/etc/os-release").read_text(), re.M))
print(json.dumps({
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [
        {"name": path.name, "digest": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}}
        for path in sorted(pathlib.Path(sys.argv[1]).iterdir())],
    "predicateType": "https://slsa.dev/provenance/v1",
    "predicate": {
        "buildDefinition": {
            "buildType": "https://example.com/pushcrypt/make-dist/v1",
            "externalParameters": {"command": "make packages", "SOURCE_DATE_EPOCH": os.environ["SOURCE_DATE_EPOCH"]},
            "internalParameters": {
                "signed": False, "uncommittedChanges": bool(output("git", "status", "--porcelain")),
                "system": system["PRETTY_NAME"], "machine": platform.machine()},
            "resolvedDependencies": [
                {"uri": "git+https://example.com/pushcrypt", "digest": {"gitCommit": output("git", "rev-parse", "HEAD")}},
                {"uri": "https://www.swift.org/install", "annotations": {"version": output("swift", "--version").splitlines()[0]}}],
        },
        "runDetails": {"builder": {"id": "https://example.com/pushcrypt/unsigned-builder"}},
    },
}, indent=1))
