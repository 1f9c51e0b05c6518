#!/usr/bin/env python3
"""Alters copies of a project, one fault each, and checks that the graph test or a reader finds each.

Usage: altered.py PROJECT.xcodeproj
"""

import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import graph


def first(text, isa):
    """The identifier of the first object of a class."""
    return re.search(r"^\t\t([0-9A-F]{24})(?: /\*.*?\*/)? = \{\s*isa = " + isa + ";", text, re.M).group(1)


def swap(old, new, count=1):
    def alter(text):
        assert old in text, old
        return text.replace(old, new, count)

    return alter


def drop_line(pattern, count=1):
    def alter(text):
        altered, found = re.subn(pattern, "", text, count=count, flags=re.M)
        assert found, pattern
        return altered

    return alter


def redirect(member, isa):
    """Lets the first member of this name refer to an object of another class."""

    def alter(text):
        other = first(text, isa)
        altered, found = re.subn(r"(\b" + member + r" = )[0-9A-F]{24}", r"\g<1>" + other, text, count=1)
        assert found, member
        return altered

    return alter


def twice(text):
    line = re.search(r"^\t\t[0-9A-F]{24} .*isa = PBXBuildFile.*\n", text, re.M).group(0)
    return text.replace(line, line + line, 1)


ALTERATIONS = {
    "a semicolon is missing": swap("archiveVersion = 1;", "archiveVersion = 1"),
    "a list is open": swap("buildRules = (\n\t\t\t);", "buildRules = (\n\t\t\t;"),
    "a variable is not quoted": swap('"$(TARGET_NAME)"', "$(TARGET_NAME)"),
    "an unknown class": swap("isa = PBXContainerItemProxy;", "isa = PBXContainerProxy;"),
    "an unknown member": swap("proxyType = 1;", "proxyKind = 1;"),
    "a member is missing": drop_line(r"^\t\t\tproductName = App;\n"),
    "an identifier of another form": lambda text: text.replace(first(text, "PBXGroup"), "MAIN_GROUP", 10),
    "a dangling reference": lambda text: re.sub(r"(mainGroup = )[0-9A-F]{24}", r"\g<1>" + "0" * 24, text, count=1),
    "a dangling root": lambda text: re.sub(r"(rootObject = )[0-9A-F]{24}", r"\g<1>" + "0" * 24, text, count=1),
    "a reference to another class": redirect("targetProxy", "PBXGroup"),
    "an identifier twice": twice,
    "a misspelt setting": swap("APPLICATION_EXTENSION_API_ONLY", "APPLICATION_EXTENSION_API_ONY"),
    "a folder that does not exist": swap("path = NotificationService;", "path = NotificationServices;"),
    "no first line": swap("// !$*UTF8*$!\n", ""),
    "an extension that is not embedded": drop_line(r"^\t\t\t\t[0-9A-F]{24} /\* NotificationService\.appex in Embed.*\n"),
    "an extension on which nothing depends": lambda text: re.sub(
        r"(dependencies = \(\n)(?:\t\t\t\t[0-9A-F]{24}.*\n)+", r"\1", text, count=1),
    "embedded only when installing": lambda text: re.sub(
        r"(dstSubfolderSpec = 13;[^}]*runOnlyForDeploymentPostprocessing = )0", r"\g<1>1", text, count=1),
    "one configuration": drop_line(r"^\t\t\t\t[0-9A-F]{24} /\* Debug \*/,\n"),
    "an exception that does not exist": swap("\t\t\t\tInfo.plist,", "\t\t\t\tInformation.plist,"),
    "an object version that Xcode refuses": swap("objectVersion = 77;", "objectVersion = 78;"),
}


def main(project):
    home = os.path.dirname(os.path.abspath(project))
    missed = []
    for name, alter in ALTERATIONS.items():
        text = open(os.path.join(project, "project.pbxproj"), encoding="utf-8").read()
        altered = alter(text)
        assert altered != text, name
        copy = tempfile.mkdtemp(dir=home, suffix=".xcodeproj")
        try:
            with open(os.path.join(copy, "project.pbxproj"), "w", encoding="utf-8") as file:
                file.write(altered)
            try:
                said = graph.faults(copy)
            except Exception as error:  # a reader's own error is a finding too
                said = [f"{type(error).__name__}: {error}"]
        finally:
            shutil.rmtree(copy)
        if not said:
            missed.append(name)
    for name in missed:
        print(f"altered: not found: {name}", file=sys.stderr)
    print(f"altered: {len(ALTERATIONS) - len(missed)} of {len(ALTERATIONS)} faults found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
