internal import Pushcrypt
internal import PushcryptCommandKit

/// Rules for what Xcode builds: names, versions, search paths, folders, and what is embedded.
struct BuildRules {
    private static let appFrameworks = "@executable_path/../../Frameworks"

    let project: IOSProject
    let files: ProjectFiles

    func findings() throws(CommandFailure) -> [Finding] {
        project.extensions.flatMap { nameFindings($0) + targetFindings($0) } + listFindings + folderFindings
            + textFindings + hostedTestFindings
            + (try importFindings())
    }

    // MARK: Name and version

    /// An extension without a display name, or with an empty one, is refused at upload.
    private func nameFindings(_ target: IOSProject.Extension) -> [Finding] {
        let key = "CFBundleDisplayName"
        let refused = "so Apple refuses the upload (ITMS-90360)"
        guard let value = target.info[key] else {
            // Without an Xcode project, another tool writes the list.
            if target.targets.isEmpty { return [] }
            let isWritten = target.targets.flatMap(\.settings).allSatisfy { settings in
                let name = settings["INFOPLIST_KEY_\(key)"] ?? ""
                return settings.isIncomplete || settings["GENERATE_INFOPLIST_FILE"] == "YES" && !name.isEmpty
            }
            return isWritten
                ? []
                : [
                    .error(
                        target.file, "there is no \(key), \(refused)",
                        fix: "add it, or set INFOPLIST_KEY_\(key), with GENERATE_INFOPLIST_FILE = YES")
                ]
        }
        guard let name = value.string, !name.isEmpty else {
            return [.error(target.file, "\(key) is empty, \(refused)", fix: "write the extension's name")]
        }
        let isEmpty = target.targets.flatMap(\.settings).contains { $0.expanded(name) == "" }
        return isEmpty
            ? [
                .error(
                    target.file, "\(key) is \(quoted(name)), which is empty in a configuration, \(refused)",
                    fix: "set the variable for every configuration, or write the name")
            ] : []
    }

    private var app: XcodeSettings.Target? {
        let apps = project.targets.filter { $0.productType.hasSuffix(".application") }
        return apps.count == 1 ? apps[0] : nil
    }

    /// App and extensions must have the same version and build number, and related bundle ids.
    private func valueFindings(_ target: IOSProject.Extension, _ built: XcodeSettings.Target) -> [Finding] {
        var findings: [Finding] = []
        let versions = [
            ("CFBundleShortVersionString", "MARKETING_VERSION"), ("CFBundleVersion", "CURRENT_PROJECT_VERSION"),
        ]
        for (key, setting) in versions {
            if let found = values(of: key, setting, target, built, where: { $0 != $1 }) {
                findings.append(
                    .warning(
                        target.file,
                        "\(key) is \(found.own), and the app's \(found.app) (\(found.configuration)), which Apple reports at upload",
                        fix:
                            "set \(setting) once, in the project, and write $(\(setting)) in both property lists"))
            }
        }
        if let found = values(
            of: "CFBundleIdentifier", "PRODUCT_BUNDLE_IDENTIFIER", target, built,
            where: { !$0.hasPrefix($1 + ".") || $0.utf8.count == $1.utf8.count + 1 })
        {
            findings.append(
                .error(
                    target.file,
                    "the bundle id \(quoted(found.own)) does not begin with the app's and '.' (\(found.configuration)), which stops the build",
                    fix: "set PRODUCT_BUNDLE_IDENTIFIER of the target \(built.name) to \(found.app).NAME"))
        }
        return findings
    }

    /// The values of a key in the extension and in the app, of the first configuration where the condition holds.
    private func values(
        of key: String, _ setting: String, _ target: IOSProject.Extension, _ built: XcodeSettings.Target,
        where isWrong: (_ own: String, _ app: String) -> Bool
    ) -> (configuration: String, own: String, app: String)? {
        guard let app else { return nil }
        let info = project.appInfos.first { file, _ in app.infoPlists.contains { files.path($0) == file } }?.info
        for settings in built.settings {
            guard let appSettings = app.settings.first(where: { $0.configuration == settings.configuration }),
                let own = settings.expanded(target.info[key]?.string ?? "$(\(setting))"), !own.isEmpty,
                let other = appSettings.expanded(info?[key]?.string ?? "$(\(setting))"), !other.isEmpty,
                isWrong(own, other)
            else { continue }
            return (settings.configuration, own, other)
        }
        return nil
    }

    // MARK: Targets

    private func targetFindings(_ target: IOSProject.Extension) -> [Finding] {
        target.targets.flatMap { built -> [Finding] in
            var findings = valueFindings(target, built)
            let isWithoutPath = built.settings.contains { settings in
                let value = settings.values["LD_RUNPATH_SEARCH_PATHS"]
                let paths = value?.kind == .array ? value?.elements.compactMap(\.string) ?? [] : [value?.string ?? ""]
                // A long value in quotes holds several paths.
                let words = paths.flatMap { $0.split(separator: " ").map(String.init) }
                return !settings.isIncomplete && !words.contains(Self.appFrameworks)
            }
            if isWithoutPath {
                findings.append(
                    .warning(
                        target.file,
                        "LD_RUNPATH_SEARCH_PATHS of the target \(built.name) lacks \(Self.appFrameworks), so a library of the app that it needs stops the extension before its first line",
                        fix: "add it to the target's build settings"))
            }
            if built.settings.contains(where: { $0["ALWAYS_EMBED_SWIFT_STANDARD_LIBRARIES"] == "YES" }) {
                findings.append(
                    .error(
                        target.file,
                        "ALWAYS_EMBED_SWIFT_STANDARD_LIBRARIES of the target \(built.name) is YES, and Apple refuses libraries in an extension (ITMS-90206)",
                        fix: "set it to NO there, and to YES in the app"))
            }
            if !built.isEmbedded, app != nil {
                findings.append(
                    .error(
                        target.file, "no target embeds \(built.name), so it is in no app",
                        fix: "add it to the app: General > Frameworks, Libraries, and Embedded Content"))
            } else if built.isMisplaced {
                findings.append(
                    .error(
                        target.file,
                        "\(built.name) is embedded into another folder than PlugIns, where the system does not look",
                        fix: "embed it by the phase Embed Foundation Extensions, whose destination is PlugIns"))
            } else if built.isEmbedded, !built.isEmbeddedInDebug {
                findings.append(
                    .warning(
                        target.file,
                        "\(built.name) is embedded only when installing, so a debug build has no extension",
                        fix: "in the app's Embed Foundation Extensions, turn off 'Copy only when installing'"))
            }
            return findings
        }
    }

    /// Xcode can generate every part of a property list but the one that makes a target an extension.
    private var listFindings: [Finding] {
        project.targets.filter { target in
            target.productType.hasSuffix(".app-extension")
                && target.settings.contains { !$0.isIncomplete && $0["INFOPLIST_FILE"] ?? "" == "" }
        }
        .map { target in
            .error(
                files.path(target.project),
                "the target \(target.name) has no INFOPLIST_FILE, so it is no extension: Xcode generates no NSExtension",
                fix: "set it to the extension's property list, for every configuration")
        }
    }

    // MARK: Folders

    /// A folder with a manifest is a package for Xcode, and a synchronised folder gives all its files to the target.
    private var folderFindings: [Finding] {
        var findings: [Finding] = []
        let projects = Set(project.targets.map(\.project))
        for manifest in files.manifests {
            if projects.contains(where: { folder(of: folder(of: $0)) == folder(of: manifest) }) {
                findings.append(
                    .warning(
                        files.path(manifest),
                        "Package.swift lies beside the project, and Xcode takes the folder for a package",
                        fix: "move it into a folder for itself"))
            }
            for target in project.targets where target.folders.contains(where: { isFile(manifest, below: $0.path) }) {
                findings.append(
                    .error(
                        files.path(manifest),
                        "Package.swift is compiled into the target \(target.name), whose folder it is in",
                        fix: "move it into a folder that no target has"))
            }
        }
        for target in project.targets {
            for list in target.infoPlists.sorted() {
                for synchronized in target.folders where isFile(list, below: synchronized.path) {
                    let name = String(list.dropFirst(synchronized.path.count + 1))
                    if synchronized.exceptions.contains(name) { continue }
                    findings.append(
                        .error(
                            files.path(list),
                            "it is a resource of the target \(target.name) too, and the build stops: multiple commands produce Info.plist",
                            fix: "turn off its Target Membership"))
                }
            }
        }
        return findings
    }

    /// A table of texts has one form.
    private var textFindings: [Finding] {
        func home(_ file: String) -> String {
            let parent = folder(of: file)
            return parent.hasSuffix(".lproj") ? folder(of: parent) : parent
        }
        func table(_ file: String) -> String { String(file.split(separator: "/").last?.split(separator: ".")[0] ?? "") }
        let tables = files.texts.filter { $0.hasSuffix(".strings") }
        return files.texts.filter { $0.hasSuffix(".xcstrings") }.flatMap { catalogue -> [Finding] in
            if folder(of: catalogue).hasSuffix(".lproj") {
                return [
                    .error(
                        files.path(catalogue), "a catalogue has all languages, and cannot be in an .lproj folder",
                        fix: "move it out")
                ]
            }
            return tables.filter { home($0) == home(catalogue) && table($0) == table(catalogue) }.prefix(1).map {
                .error(
                    files.path(catalogue), "\(files.path($0)) has the same table, which stops the build",
                    fix: "move its texts into the catalogue, and remove it")
            }
        }
    }

    // MARK: Tests

    /// A test that runs in the app has what the app links. Xcode makes a framework of what both link if the test names the app as its
    /// bundle loader, and otherwise each has a copy.
    private var hostedTestFindings: [Finding] {
        guard let app else { return [] }
        // What the simulator is made of.
        let simulated = app.products.contains { $0.hasPrefix("Pushcrypt") } ? ["DeviceSimulator"] : []
        return project.targets.flatMap { target -> [Finding] in
            guard target.productType.hasSuffix(".bundle.unit-test"), target.project == app.project,
                target.settings.contains(where: { !($0["TEST_HOST"] ?? "").isEmpty })
            else { return [] }
            return target.products.intersection(app.products.union(simulated)).sorted().map { product in
                .warning(
                    files.path(target.project),
                    "the target \(target.name) links \(product), which is in the app that runs it too: there are two copies, or for the tests Xcode makes a framework that the app at your users does not have",
                    fix: app.products.contains(product)
                        ? "unlink it: the test has what the app links"
                        : "link it to a target of tests without TEST_HOST")
            }
        }
    }

    /// A test cannot link an extension, which is a program; a package's test can, because there it is a library.
    private func importFindings() throws(CommandFailure) -> [Finding] {
        let names = Set(project.extensions.flatMap { $0.targets.map(\.name) })
        guard !names.isEmpty else { return [] }
        var findings: [Finding] = []
        // Whether the extension shows senders, and whether the app says so too.
        var (extensionSource, isInApp) = (nil as String?, false)
        for file in files.swiftSources where !files.manifests.contains(where: { isFile(file, below: folder(of: $0)) }) {
            let words = SwiftWords(try readFile(files.path(file), limit: 1 << 24)).words
            var linuxDepth = 0
            for index in words.indices {
                let rest = words[index...]
                if rest.starts(with: ["import", "PushcryptIntents"]) {
                    let isInExtension = project.extensions.contains {
                        isFile(files.path(file), below: folder(of: $0.file))
                    }
                    if isInExtension { extensionSource = file } else { isInApp = true }
                }
                if rest.starts(with: ["#", "if", "os", "(", "Linux", ")"]) { linuxDepth += 1 }
                if rest.starts(with: ["#", "endif"]) || rest.starts(with: ["#", "else"]) {
                    linuxDepth = max(0, linuxDepth - 1)
                }
                guard linuxDepth == 0, rest.starts(with: ["@", "testable", "import"]), rest.count > 3,
                    names.contains(rest[index + 3])
                else { continue }
                findings.append(
                    .error(
                        files.path(file),
                        "a test cannot import the extension \(rest[index + 3]), which is a program: the link fails",
                        fix: "give the test target the source files that it tests"))
            }
        }
        if let extensionSource, !isInApp {
            findings.append(
                .warning(
                    files.path(extensionSource),
                    "the extension shows senders, and no source of the app imports PushcryptIntents, so a log-out leaves what the system knows of them",
                    fix: "write senders: .intents() in the app's PushAccounts"))
        }
        return findings
    }
}

extension XcodeSettings.Target.Settings {
    /// A text with its variables replaced, in this configuration; nil if one is unknown here.
    func expanded(_ text: String) -> String? {
        // Set by Xcode.
        let known = ["PRODUCT_NAME", "TARGET_NAME", "PRODUCT_MODULE_NAME", "EXECUTABLE_NAME"]
        guard text.hasPrefix("$("), text.hasSuffix(")") else {
            return text.utf8.contains(UInt8(ascii: "$")) ? nil : text
        }
        let name = String(text.dropFirst(2).dropLast())
        if let value = values[name]?.string { return value.utf8.contains(UInt8(ascii: "$")) ? nil : value }
        return known.contains(name) || isIncomplete ? nil : ""
    }
}
