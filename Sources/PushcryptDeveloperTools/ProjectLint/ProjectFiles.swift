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
    private(set) var propertyLists: [String] = []
    private(set) var entitlements: [String] = []
    private(set) var projects: [String] = []
    private(set) var storyboards: [String] = []
    private(set) var swiftSources: [String] = []
    private(set) var manifests: [String] = []
    /// Tables of texts: string files, and catalogues.
    private(set) var texts: [String] = []

    /// Finds the files in a folder and those below it. Links are not followed.
    init(in folder: String) throws(CommandFailure) {
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
        if name.hasSuffix(".plist") { propertyLists.append(file) }
        if name.hasSuffix(".entitlements") { entitlements.append(file) }
        if name == "project.pbxproj" { projects.append(file) }
        if name.hasSuffix(".storyboard") { storyboards.append(file) }
        if name.hasSuffix(".strings") || name.hasSuffix(".xcstrings") { texts.append(file) }
        if name == "Package.swift" {
            manifests.append(file)
        } else if name.hasSuffix(".swift") {
            swiftSources.append(file)
        }
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

/// Reads property lists through the system's `plutil`, as JSON.
///
/// A property list is XML with a document type, binary, the old form with braces that Xcode uses for projects, or JSON.
/// Apple's program reads all four, and is part of macOS and of every Swift toolchain for Linux. A reader in this project would
/// be the largest part of the command, and the only place where it reads XML.
enum PropertyLists {
    /// More than the largest Xcode project.
    private static let maximumLength = 1 << 26

    /// The reason why a file was not read, and its fix.
    struct Unreadable: Error {
        let text: String
        let fix: String
    }

    enum Reading {
        case value(JSONValue)
        case unreadable(Unreadable)
    }

    /// Reads one file. Throws if there is no `plutil`.
    static func read(_ path: String) throws(CommandFailure) -> Reading {
        let result: ChildProcess.Result
        do throws(SystemError) {
            result = try ChildProcess.run("plutil", ["-convert", "json", "-o", "-", path], limit: maximumLength)
        } catch {
            if error == .notFound {
                throw .usage(
                    "plutil, which reads property lists, is not in the PATH",
                    hint: "it comes with macOS, and with Swift for Linux: add the toolchain's usr/bin folder to PATH")
            }
            throw .failed("cannot run plutil: \(error.text)")
        }
        guard result.exit == 0 else { return .unreadable(reason(result)) }
        do throws(JSONError) {
            return .value(try JSONDocument(parsing: result.output, maximumBytes: maximumLength).root)
        } catch {
            return .unreadable(
                Unreadable(text: "the output of plutil is refused: \(error)", fix: "check the file by hand"))
        }
    }

    private static func reason(_ result: ChildProcess.Result) -> Unreadable {
        // On Apple's systems plutil writes errors to standard output.
        let words = String(decoding: result.messages + result.output, as: UTF8.self).lowercased().utf8
        // `String.contains(_: String)` would link Swift's regular expressions: a megabyte.
        if words.indices.contains(where: { words[$0...].starts(with: "invalid object in plist".utf8) }) {
            return Unreadable(
                text:
                    "was not checked: plutil cannot write it as JSON, because it is not a dictionary or has a value of type data or date",
                fix: "check it by hand, or keep such values in another file")
        }
        return Unreadable(text: "is not a property list", fix: "run 'plutil -lint' on it")
    }
}
