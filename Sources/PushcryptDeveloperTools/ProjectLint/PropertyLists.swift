internal import Pushcrypt
internal import PushcryptCommandKit

/// Reads property lists through the system's `plutil`, as JSON.
///
/// A property list has four forms: XML with a document type, a binary one, the old one of braces in which Xcode keeps its
/// projects, and JSON. Apple's own program reads them all, as Xcode does, and is on every Mac and in every Swift toolchain
/// for Linux. A reader of our own would be the largest part of this command, and the one place where this program reads XML.
enum PropertyLists {
    /// Far more than the largest project of Xcode's.
    private static let maximumLength = 1 << 26

    /// Why a file was not read, and what to do.
    struct Unreadable: Error {
        let text: String
        let fix: String
    }

    enum Reading {
        case value(JSONValue)
        case unreadable(Unreadable)
    }

    /// Reads one file; ends the command when there is no `plutil`.
    static func read(_ path: String) throws(CommandFailure) -> Reading {
        let result: ChildProcess.Result
        do throws(SystemError) {
            result = try ChildProcess.run("plutil", ["-convert", "json", "-o", "-", path], limit: maximumLength)
        } catch {
            if error == .notFound {
                throw .usage(
                    "there is no plutil in the PATH, and property lists are read with it",
                    hint: "it comes with macOS, and with Swift for Linux: add the toolchain's usr/bin folder to PATH")
            }
            throw .failed("cannot run plutil: \(error.text)")
        }
        guard result.exit == 0 else { return .unreadable(reason(result)) }
        do throws(JSONError) {
            return .value(try JSONDocument(parsing: result.output, maximumBytes: maximumLength).root)
        } catch {
            return .unreadable(
                Unreadable(text: "what plutil makes of it is not taken: \(error)", fix: "check the file by hand"))
        }
    }

    private static func reason(_ result: ChildProcess.Result) -> Unreadable {
        // On Apple's systems plutil complains on standard output.
        let words = String(decoding: result.messages + result.output, as: UTF8.self).lowercased().utf8
        // `String.contains(_: String)` would link Swift's regular expressions into the command: a megabyte.
        if words.indices.contains(where: { words[$0...].starts(with: "invalid object in plist".utf8) }) {
            return Unreadable(
                text:
                    "was not checked: it has a value of type data or date, or no dictionary around all, which plutil cannot write as JSON",
                fix: "check it by hand, or keep such values in another file")
        }
        return Unreadable(text: "is not a property list", fix: "see what 'plutil -lint' says of it")
    }
}
