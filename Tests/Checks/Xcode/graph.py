#!/usr/bin/env python3
"""Checks the graph of a project.pbxproj: what no reader on Linux checks.

Every reference resolves to an object of the right class, every object is reached from the root, no identifier is there twice,
every path exists, each target has both configurations, each extension is embedded and depended on, settings are known ones, and
products are what Xcode makes of their type.

Usage: graph.py PROJECT.xcodeproj          prints the faults; the exit code is 1 if there is one
"""

import collections
import os
import re
import sys

import openstep_plist

ID = re.compile(r"[0-9A-F]{24}")

# The classes that a member may refer to, by class and member.
REFERENCES = {
    ("PBXProject", "buildConfigurationList"): "XCConfigurationList",
    ("PBXProject", "mainGroup"): "PBXGroup",
    ("PBXProject", "productRefGroup"): "PBXGroup",
    ("PBXProject", "packageReferences"): "XCLocalSwiftPackageReference XCRemoteSwiftPackageReference",
    ("PBXProject", "targets"): "PBXNativeTarget",
    ("PBXGroup", "children"): "PBXGroup PBXFileReference PBXFileSystemSynchronizedRootGroup",
    ("PBXFileSystemSynchronizedRootGroup", "exceptions"): "PBXFileSystemSynchronizedBuildFileExceptionSet",
    ("PBXFileSystemSynchronizedBuildFileExceptionSet", "target"): "PBXNativeTarget",
    ("PBXNativeTarget", "buildConfigurationList"): "XCConfigurationList",
    ("PBXNativeTarget", "buildPhases"): "PBXSourcesBuildPhase PBXFrameworksBuildPhase PBXResourcesBuildPhase PBXCopyFilesBuildPhase",
    ("PBXNativeTarget", "dependencies"): "PBXTargetDependency",
    ("PBXNativeTarget", "fileSystemSynchronizedGroups"): "PBXFileSystemSynchronizedRootGroup",
    ("PBXNativeTarget", "packageProductDependencies"): "XCSwiftPackageProductDependency",
    ("PBXNativeTarget", "productReference"): "PBXFileReference",
    ("PBXSourcesBuildPhase", "files"): "PBXBuildFile",
    ("PBXFrameworksBuildPhase", "files"): "PBXBuildFile",
    ("PBXResourcesBuildPhase", "files"): "PBXBuildFile",
    ("PBXCopyFilesBuildPhase", "files"): "PBXBuildFile",
    ("PBXBuildFile", "fileRef"): "PBXFileReference",
    ("PBXBuildFile", "productRef"): "XCSwiftPackageProductDependency",
    ("PBXTargetDependency", "target"): "PBXNativeTarget",
    ("PBXTargetDependency", "targetProxy"): "PBXContainerItemProxy",
    ("PBXContainerItemProxy", "containerPortal"): "PBXProject",
    ("PBXContainerItemProxy", "remoteGlobalIDString"): "PBXNativeTarget",
    ("XCConfigurationList", "buildConfigurations"): "XCBuildConfiguration",
    ("XCSwiftPackageProductDependency", "package"): "XCLocalSwiftPackageReference XCRemoteSwiftPackageReference",
}

# The members that a class must have, and further ones that it may have.
MEMBERS = {
    "PBXBuildFile": ("", "fileRef productRef settings"),
    "PBXContainerItemProxy": ("containerPortal proxyType remoteGlobalIDString remoteInfo", ""),
    "PBXCopyFilesBuildPhase": ("buildActionMask dstPath dstSubfolderSpec files name runOnlyForDeploymentPostprocessing", ""),
    "PBXFileReference": ("explicitFileType includeInIndex path sourceTree", ""),
    "PBXFileSystemSynchronizedBuildFileExceptionSet": ("membershipExceptions target", ""),
    "PBXFileSystemSynchronizedRootGroup": ("path sourceTree", "exceptions"),
    "PBXFrameworksBuildPhase": ("buildActionMask files runOnlyForDeploymentPostprocessing", ""),
    "PBXGroup": ("children sourceTree", "name path"),
    "PBXNativeTarget": (
        "buildConfigurationList buildPhases buildRules dependencies fileSystemSynchronizedGroups name"
        " packageProductDependencies productName productReference productType", ""),
    "PBXProject": (
        "attributes buildConfigurationList developmentRegion hasScannedForEncodings knownRegions mainGroup"
        " minimizedProjectReferenceProxies packageReferences preferredProjectObjectVersion productRefGroup"
        " projectDirPath projectRoot targets", ""),
    "PBXResourcesBuildPhase": ("buildActionMask files runOnlyForDeploymentPostprocessing", ""),
    "PBXSourcesBuildPhase": ("buildActionMask files runOnlyForDeploymentPostprocessing", ""),
    "PBXTargetDependency": ("target targetProxy", ""),
    "XCBuildConfiguration": ("buildSettings name", ""),
    "XCConfigurationList": ("buildConfigurations defaultConfigurationIsVisible defaultConfigurationName", ""),
    "XCLocalSwiftPackageReference": ("relativePath", ""),
    "XCRemoteSwiftPackageReference": ("repositoryURL requirement", ""),
    "XCSwiftPackageProductDependency": ("productName", "package"),
}

SETTINGS = set("""
ALWAYS_EMBED_SWIFT_STANDARD_LIBRARIES ALWAYS_SEARCH_USER_PATHS APPLICATION_EXTENSION_API_ONLY
ASSETCATALOG_COMPILER_APPICON_NAME BUNDLE_LOADER
CLANG_ENABLE_MODULES CODE_SIGN_ENTITLEMENTS CODE_SIGN_STYLE CURRENT_PROJECT_VERSION DEBUG_INFORMATION_FORMAT
DEVELOPMENT_TEAM ENABLE_TESTABILITY ENABLE_USER_SCRIPT_SANDBOXING GCC_OPTIMIZATION_LEVEL GENERATE_INFOPLIST_FILE
INFOPLIST_FILE INFOPLIST_KEY_UILaunchScreen_Generation INFOPLIST_KEY_UISupportedInterfaceOrientations_iPad IPHONEOS_DEPLOYMENT_TARGET LD_RUNPATH_SEARCH_PATHS
LOCALIZATION_PREFERS_STRING_CATALOGS MARKETING_VERSION ONLY_ACTIVE_ARCH PRODUCT_BUNDLE_IDENTIFIER PRODUCT_NAME SDKROOT
SKIP_INSTALL SUPPORTED_PLATFORMS SUPPORTS_MACCATALYST SWIFT_ACTIVE_COMPILATION_CONDITIONS SWIFT_APPROACHABLE_CONCURRENCY
SWIFT_COMPILATION_MODE SWIFT_DEFAULT_ACTOR_ISOLATION SWIFT_OPTIMIZATION_LEVEL SWIFT_VERSION TARGETED_DEVICE_FAMILY TEST_HOST
VALIDATE_PRODUCT
""".split())

# Of the types of product: the ending, the type of the file, what Xcode sets by itself, and what it leaves to the target. From the
# specifications in github.com/swiftlang/swift-build, commit 41aee626: DarwinProductTypes, ProductTypes, DarwinPackageTypes and
# PackageTypes (xcspec). Without LD_RUNPATH_SEARCH_PATHS an app finds no library in its Frameworks; without SKIP_INSTALL an archive has
# the extension beside the app, too.
PRODUCTS = {
    "com.apple.product-type.application": (
        "app", "wrapper.application", {"SUPPORTS_MACCATALYST": "NO"}, "LD_RUNPATH_SEARCH_PATHS"),
    "com.apple.product-type.app-extension": (
        "appex", "wrapper.app-extension", {"APPLICATION_EXTENSION_API_ONLY": "YES", "SUPPORTS_MACCATALYST": "NO"},
        "LD_RUNPATH_SEARCH_PATHS SKIP_INSTALL"),
    "com.apple.product-type.bundle.unit-test": ("xctest", "wrapper.cfbundle", {}, "TEST_HOST BUNDLE_LOADER"),
}

# A set, not a range: the versions that Xcode 27 reads.
VERSIONS = {"56", "60", "63", "70", "71", "76", "77", "90", "100", "110"}


def as_list(value):
    return value if isinstance(value, list) else [value]


def faults(project):
    """The faults of a project, as sentences."""
    found = []
    path = os.path.join(project, "project.pbxproj")
    home = os.path.dirname(os.path.abspath(project))
    text = open(path, encoding="utf-8").read()
    if not text.startswith("// !$*UTF8*$!\n"):
        found.append("the first line is not // !$*UTF8*$!")
    root = openstep_plist.loads(text)
    objects = root.get("objects", {})
    if str(root.get("objectVersion")) not in VERSIONS:
        found.append(f"Xcode does not read objectVersion {root.get('objectVersion')}")

    # Parsers keep the last of two, so this reads the text.
    defined = re.findall(r"^\t\t([0-9A-Za-z_]+)(?: /\*.*?\*/)? = \{", text, re.M)
    for identifier, count in collections.Counter(defined).items():
        if count > 1:
            found.append(f"{identifier} is there {count} times")
        if not ID.fullmatch(identifier):
            found.append(f"{identifier} is not 24 hexadecimal digits")

    reached = set()

    def refer(owner, member, value):
        wanted = REFERENCES.get((objects[owner].get("isa"), member), "").split()
        if value not in objects:
            found.append(f"{owner}: {member} refers to {value}, which does not exist")
        elif wanted and objects[value].get("isa") not in wanted:
            found.append(f"{owner}: {member} refers to {value}, a {objects[value].get('isa')}")
        visit(value)

    def visit(identifier):
        if identifier in reached or identifier not in objects:
            return
        reached.add(identifier)
        item = objects[identifier]
        for member, value in item.items():
            if (item.get("isa"), member) in REFERENCES:
                for one in as_list(value):
                    refer(identifier, member, one)

    main = root.get("rootObject")
    if objects.get(main, {}).get("isa") != "PBXProject":
        found.append(f"rootObject {main} is no PBXProject")
    visit(main)
    for identifier in objects:
        if identifier not in reached:
            found.append(f"{identifier}, a {objects[identifier].get('isa')}, is not reached")

    def configurations(owner):
        listed = objects.get(owner.get("buildConfigurationList"), {}).get("buildConfigurations", [])
        return [objects[one] for one in listed if one in objects]

    embedded = set()
    for identifier, item in objects.items():
        isa = item.get("isa")
        if isa not in MEMBERS:
            found.append(f"{identifier}: Xcode has no class {isa}")
            continue
        needed, allowed = (part.split() for part in MEMBERS[isa])
        for member in needed:
            if member not in item:
                found.append(f"{identifier}: a {isa} has no {member}")
        for member in item:
            if member != "isa" and member not in needed + allowed:
                found.append(f"{identifier}: a {isa} does not have {member}")
        if isa == "XCBuildConfiguration":
            for name in item.get("buildSettings", {}):
                if name not in SETTINGS and not re.fullmatch(r"INFOPLIST_KEY_\w+", name):
                    found.append(f"{identifier}: no build setting is called {name}")
            for name in ("INFOPLIST_FILE", "CODE_SIGN_ENTITLEMENTS"):
                file = item.get("buildSettings", {}).get(name)
                if file and not os.path.isfile(os.path.join(home, file)):
                    found.append(f"{name}: there is no {file}")
        if isa == "PBXFileSystemSynchronizedRootGroup":
            folder = os.path.join(home, item.get("path", ""))
            if not os.path.isdir(folder):
                found.append(f"there is no folder {item.get('path')}")
            for one in item.get("exceptions", []):
                for file in objects.get(one, {}).get("membershipExceptions", []):
                    if not os.path.exists(os.path.join(folder, file)):
                        found.append(f"there is no {item.get('path')}/{file}")
        if isa == "PBXCopyFilesBuildPhase":
            if str(item.get("dstSubfolderSpec")) != "13" or str(item.get("runOnlyForDeploymentPostprocessing")) != "0":
                found.append(f"{identifier}: extensions belong into PlugIns, in every build")
            embedded |= {objects.get(one, {}).get("fileRef") for one in item.get("files", [])}
        if isa == "XCLocalSwiftPackageReference":
            if not os.path.isfile(os.path.join(home, item.get("relativePath", ""), "Package.swift")):
                found.append(f"there is no package in {item.get('relativePath')}")

    depended = {objects.get(item.get("target"), {}).get("name") for item in objects.values() if item.get("isa") == "PBXTargetDependency"}
    for identifier, item in objects.items():
        if item.get("isa") not in ("PBXNativeTarget", "PBXProject"):
            continue
        names = sorted(one.get("name", "") for one in configurations(item))
        if names != ["Debug", "Release"]:
            found.append(f"{identifier}: its configurations are {names}")
        if item["isa"] == "PBXProject":
            for target in item.get("attributes", {}).get("TargetAttributes", {}):
                if objects.get(target, {}).get("isa") != "PBXNativeTarget":
                    found.append(f"TargetAttributes names {target}, which is no target")
            continue
        phases = [objects.get(one, {}).get("isa") for one in item.get("buildPhases", [])]
        for phase in ("PBXSourcesBuildPhase", "PBXFrameworksBuildPhase", "PBXResourcesBuildPhase"):
            if phases.count(phase) != 1:
                found.append(f"{item.get('name')} has {phases.count(phase)} of {phase}")
        linked = set()
        for one in item.get("buildPhases", []):
            if objects.get(one, {}).get("isa") == "PBXFrameworksBuildPhase":
                linked = {objects.get(file, {}).get("productRef") for file in objects[one].get("files", [])}
        if linked != set(item.get("packageProductDependencies", [])):
            found.append(f"{item.get('name')} does not link the products that it depends on")
        if item.get("productType") not in PRODUCTS:
            found.append(f"{item.get('name')}: a product of the type {item.get('productType')} is not expected")
        else:
            ending, type_of_file, defaults, needed = PRODUCTS[item["productType"]]
            product = objects.get(item.get("productReference"), {})
            if not product.get("path", "").endswith(f".{ending}") or product.get("explicitFileType") != type_of_file:
                found.append(f"{item.get('name')}: its product is a {type_of_file} that ends in .{ending}")
            for settings in (one.get("buildSettings", {}) for one in configurations(item)):
                found += [f"{item.get('name')}: {name} is {settings[name]}, against Xcode's {value}"
                          for name, value in defaults.items() if settings.get(name, value) != value]
                found += [f"{item.get('name')}: Xcode does not set {name}" for name in needed.split() if name not in settings]
        if item.get("productType") == "com.apple.product-type.app-extension":
            if item.get("productReference") not in embedded:
                found.append(f"{item.get('name')} is not embedded")
            if item.get("name") not in depended:
                found.append(f"no target depends on {item.get('name')}")
    return found


if __name__ == "__main__":
    said = faults(sys.argv[1])
    for fault in said:
        print(f"graph: {fault}", file=sys.stderr)
    sys.exit(1 if said else 0)
