internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptDeveloperTools

/// `--topic`: an app.
struct TopicArgument: Sendable {
    static let hint = "add --topic with the app's bundle id, for example com.example.app"

    private let text: String?

    init(
        _ arguments: inout Arguments,
        help: String = "the app, such as com.example.app; required if no key is bound to one"
    ) {
        text = arguments.value("--topic", "BUNDLE-ID", help: help)
    }

    /// The topic, if one was given, with a warning if it looks like one of APNs.
    func topic(_ console: Console) throws -> Topic? {
        let topic = try topic()
        if let topic { console.warnOfSuffix(topic) }
        return topic
    }

    func topic() throws -> Topic? { try text.map { try Topic($0, in: "--topic") } }
}

extension Topic {
    /// Checks the text of an option or operand.
    init(_ text: String, in place: String) throws {
        do { self = try Topic(text) } catch { throw Failure.usage("\(place): \(error)") }
    }

    /// A topic for examples, where any will do.
    static var example: Topic {
        guard let topic = try? Topic("com.example.app") else { preconditionFailure("the example is a topic") }
        return topic
    }
}

extension Console {
    /// Warns of a topic that ends like the APNs topics of one push type, or begins with a team's id: phones would look for
    /// another app.
    func warnOfSuffix(_ topic: Topic) {
        if let prefix = topic.bundleID.split(separator: ".").first, isAppleID(String(prefix)) {
            warning("\(topic) begins with \(prefix), as if with a team's id: give the app's bundle id alone")
        }
        guard let suffix = topic.typeSuffix else { return }
        warning(
            "\(topic) ends with \(suffix), as topics of APNs do: give the app's bundle id, usually \(topic.bundleID.dropLast(suffix.count)); requests get the suffix"
        )
    }
}

/// Whether a text is a key id or a team id: ten letters and digits, of which Apple writes the letters in upper case.
package func isAppleID(_ text: String) -> Bool {
    text.utf8.count == 10
        && text.utf8.allSatisfy {
            UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
        }
}
