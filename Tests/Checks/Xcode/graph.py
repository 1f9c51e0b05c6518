#!/usr/bin/env python3
"""Checks of a scaffold's project what no reader on Linux checks, and what readers see of it.

Every reference leads to an object, every object is reached from the root, no identifier is there twice, every path exists, each target has both
configurations and what Xcode does not set by itself, and each extension is embedded and depended on. The readers agree on the targets, and
the string catalogue has each text in the project's languages. A changed copy has to be found.

Usage: graph.py PROJECT.xcodeproj          prints the faults; the exit code is 1 if there is one
"""
import copy, json, pathlib, re, sys, xml.dom.minidom

import openstep_plist, pbxproj

ID = re.compile(r"[0-9A-F]{24}")
# The ending of a product, and the settings that Xcode leaves to the target: from the specifications in github.com/swiftlang/swift-build, commit
# 41aee626. Without LD_RUNPATH_SEARCH_PATHS an app finds no library in its Frameworks; without SKIP_INSTALL an archive has the extension beside the
# app, too.
PRODUCTS = {
    "application": (".app", {"LD_RUNPATH_SEARCH_PATHS"}), "app-extension": (".appex", {"LD_RUNPATH_SEARCH_PATHS", "SKIP_INSTALL"}),
    "bundle.unit-test": (".xctest", {"TEST_HOST", "BUNDLE_LOADER"})}


def words(value):
    """The texts in a value, whatever is around them."""
    if isinstance(value, dict):
        return [word for key, inside in value.items() for word in [key, *words(inside)]]
    return [word for inside in value for word in words(inside)] if isinstance(value, list) else [str(value)]


def faults(document, home):
    objects, reached, waiting = document["objects"], set(), [document["rootObject"]]
    while waiting:
        one = waiting.pop()
        if one in reached:
            continue
        reached.add(one)
        waiting += [word for word in words(objects.get(one, {})) if ID.fullmatch(word)]
    yield from (f"{one} is referred to, and does not exist" for one in reached - objects.keys())
    yield from (f"{one}, a {objects[one]['isa']}, is not reached" for one in objects.keys() - reached)
    if reached - objects.keys():
        return

    def all_of(isa):
        return {one: item for one, item in objects.items() if item["isa"] == isa}

    def phase(target, isa):
        """The files of a target's only phase of a kind."""
        [found] = [objects[one] for one in target["buildPhases"] if objects[one]["isa"] == isa]
        return [objects[one] for one in found["files"]]

    paths = [(item["path"], "") for item in all_of("PBXFileSystemSynchronizedRootGroup").values()]
    paths += [(item["path"], file) for item in all_of("PBXFileSystemSynchronizedRootGroup").values() for one in item.get("exceptions", [])
              for file in objects[one]["membershipExceptions"]]
    paths += [(item["relativePath"], "Package.swift") for item in all_of("XCLocalSwiftPackageReference").values()]
    for item in all_of("XCBuildConfiguration").values():
        paths += [("", item["buildSettings"][name]) for name in ("INFOPLIST_FILE", "CODE_SIGN_ENTITLEMENTS") if name in item["buildSettings"]]
    yield from (f"there is no {folder}/{file}" for folder, file in paths if not (home / folder / file).exists())

    copies = all_of("PBXCopyFilesBuildPhase").values()
    embedded = {objects[file].get("fileRef") for item in copies for file in item["files"]}
    if any((str(item["dstSubfolderSpec"]), str(item["runOnlyForDeploymentPostprocessing"])) != ("13", "0") for item in copies):
        yield "extensions belong into PlugIns, in every build"
    depended = {item["target"] for item in all_of("PBXTargetDependency").values()}
    for one, target in all_of("PBXNativeTarget").items():
        name, kind = target["name"], target["productType"].removeprefix("com.apple.product-type.")
        ending, needed = PRODUCTS[kind]
        listed = [objects[each] for each in objects[target["buildConfigurationList"]]["buildConfigurations"]]
        if sorted(each["name"] for each in listed) != ["Debug", "Release"]:
            yield f"{name} does not have both configurations"
        yield from (f"{name}: Xcode does not set {missing}" for each in listed for missing in needed - each["buildSettings"].keys())
        if {file.get("productRef") for file in phase(target, "PBXFrameworksBuildPhase")} != set(target["packageProductDependencies"]):
            yield f"{name} does not link the products that it depends on"
        if not objects[target["productReference"]]["path"].endswith(ending):
            yield f"{name}: its product does not end in {ending}"
        if kind == "app-extension" and not (target["productReference"] in embedded and one in depended):
            yield f"{name} is not embedded, or no target depends on it"


def changed(document):
    """Copies with one fault each: a reference cut, an object left over, an extension not embedded, a setting gone."""
    def each(objects, isa):
        return [(one, item) for one, item in objects.items() if item["isa"] == isa]

    for change in (lambda objects: objects.pop(each(objects, "PBXFileReference")[0][0]),
                   lambda objects: objects.update({"0" * 24: {"isa": "PBXGroup"}}),
                   lambda objects: [item.update(files=[]) for _, item in each(objects, "PBXCopyFilesBuildPhase")],
                   lambda objects: [item["buildSettings"].pop("SKIP_INSTALL", 0) for _, item in each(objects, "XCBuildConfiguration")]):
        other = copy.deepcopy(document)
        change(other["objects"])
        yield other


def readings(project, document):
    """What the readers see."""
    objects, home = document["objects"], project.parent
    names = {item["name"] for item in objects.values() if item["isa"] == "PBXNativeTarget"}
    if names != {target.name for target in pbxproj.XcodeProject.load(project / "project.pbxproj").objects.get_targets()}:
        yield "two readers see other targets"
    if not {"App", "NotificationService", "NotificationTests"} <= names:
        yield f"the targets are {names}"
    scheme = xml.dom.minidom.parse(str(project / "xcshareddata/xcschemes/App.xcscheme"))
    for reference in scheme.getElementsByTagName("BuildableReference"):
        target = objects[reference.getAttribute("BlueprintIdentifier")]
        found = target["name"], objects[target["productReference"]]["path"]
        if found != (reference.getAttribute("BlueprintName"), reference.getAttribute("BuildableName")):
            yield f"the scheme has another name for {found}"
    texts = json.loads((home / "App/Localizable.xcstrings").read_text())["strings"].values()
    languages = {frozenset(text["localizations"]) for text in texts}
    if len(languages) != 1 or not {"en"} <= set(*languages) <= set(objects[document["rootObject"]]["knownRegions"]):
        yield f"the catalogue has texts in {languages}"


def main():
    project = pathlib.Path(sys.argv[1])
    text = (project / "project.pbxproj").read_text()
    document = openstep_plist.loads(text)
    # Parsers keep the last of two, so this reads the text.
    defined = re.findall(r"^\t\t(\w+)(?: /\*.*?\*/)? = \{", text, re.M)
    found = ["an identifier is there twice"] if len(defined) != len(set(defined)) or set(defined) != document["objects"].keys() else []
    found += list(faults(document, project.parent)) or readings(project, document)
    found += ["a change of the project is not found" for other in changed(document) if not any(faults(other, project.parent))]
    for fault in found:
        print(f"graph: {fault}", file=sys.stderr)
    sys.exit(bool(found))


main()
