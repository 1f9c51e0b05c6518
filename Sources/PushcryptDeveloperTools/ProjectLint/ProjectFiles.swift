internal import Pushcrypt
internal import PushcryptCommandKit

/// The files of an app's project that configure its extensions, by their paths below one folder.
struct ProjectFiles {
    /// Folders that tools write, without files of the project.
    private static let skipped: Set<String> = [
        "build", "DerivedData", "Pods", "Carthage", "SourcePackages", "node_modules", "xcuserdata",
    ]
    private static let skippedEndings = [
        ".xcassets", ".xcworkspace", ".framework", ".xcframework", ".app", ".appex", ".xcarchive", ".bundle",
    ]
    /// Deeper folders contain no target. The limit also ends a loop of mounts.
    private static let maximumDepth = 24

    /// The path as the user wrote it.
    let root: String
    private(set) var projects: [String] = []
    private(set) var swiftSources: [String] = []

    /// Finds the files in a folder and those below it. Links are not followed.
    init(in folder: String) throws(Failure) {
        guard Folder.kind(of: folder, followingLinks: true) == .folder else {
            throw .failed("there is no folder \(quoted(folder))")
        }
        root = folder
        collect(from: "", depth: 0)
    }

    private mutating func collect(from folder: String, depth: Int) {
        for name in Folder.names(in: path(folder)) where !name.hasPrefix(".") {
            let file = folder.isEmpty ? name : "\(folder)/\(name)"
            switch Folder.kind(of: path(file)) {
            case .file: sort(file, named: name)
            case .folder where depth < Self.maximumDepth && !Self.isSkipped(name): collect(from: file, depth: depth + 1)
            default: continue
            }
        }
    }

    private mutating func sort(_ file: String, named name: String) {
        if name == "project.pbxproj" { projects.append(file) }
        if name.hasSuffix(".swift"), name != "Package.swift" { swiftSources.append(file) }
    }

    private static func isSkipped(_ name: String) -> Bool {
        skipped.contains(name) || skippedEndings.contains { name.hasSuffix($0) }
    }

    /// A path that can be opened, and that programs do not treat as an option.
    func path(_ file: String) -> String {
        let path = file.isEmpty ? root : root.hasSuffix("/") ? root + file : "\(root)/\(file)"
        return path.hasPrefix("-") ? "./" + path : path
    }
}

/// Reads property lists through the system's `plutil`, as JSON, each once. One that cannot be read becomes a finding.
///
/// A property list is XML with a document type, binary, the old form with braces that Xcode uses for projects, or JSON.
/// Apple's program reads all four, and is part of macOS and of every Swift toolchain for Linux. A reader in this project would
/// be the largest part of the command, and the only place where it reads XML.
struct PropertyLists {
    /// More than the largest Xcode project.
    private static let maximumLength = 1 << 26

    private(set) var findings: [Finding] = []
    private let files: ProjectFiles
    private var read: [String: JSONValue?] = [:]

    init(_ files: ProjectFiles) { self.files = files }

    /// Reads one file. Throws if there is no `plutil`.
    mutating func list(_ file: String) throws(Failure) -> JSONValue? {
        if let known = read[file] { return known }
        let path = files.path(file)
        let result: ChildProcess.Result
        do throws(SystemError) {
            result = try ChildProcess.run(
                "plutil", ["-convert", "json", "-o", "-", path], limit: Self.maximumLength)
        } catch {
            if error == .notFound {
                throw .usage(
                    "plutil, which reads property lists, is not in the PATH",
                    hint: "it comes with macOS, and with Swift for Linux: add the toolchain's usr/bin folder to PATH")
            }
            throw .failed("cannot run plutil: \(error.text)")
        }
        let value =
            result.exit == 0 ? try? JSONDocument(parsing: result.output, maximumBytes: Self.maximumLength).root : nil
        if value == nil {
            let isForeign = Self.hasForeignValue(result)
            findings.append(
                .error(
                    path,
                    isForeign ? "has a value of type data or date, and was not checked" : "is not a property list",
                    fix: isForeign ? "keep such values in another file" : "run 'plutil -lint' on it"))
        }
        read[file] = .some(value)
        return value
    }

    /// Whether plutil cannot write a list as JSON.
    private static func hasForeignValue(_ result: ChildProcess.Result) -> Bool {
        // On Apple's systems plutil writes errors to standard output.
        let words = String(decoding: result.messages + result.output, as: UTF8.self).lowercased().utf8
        // `String.contains(_: String)` would link Swift's regular expressions: a megabyte.
        return words.indices.contains { words[$0...].starts(with: "invalid object in plist".utf8) }
    }
}
