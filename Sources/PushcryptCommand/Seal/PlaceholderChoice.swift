internal import Pushcrypt
internal import PushcryptCommandKit

extension Option {
    /// The options for what remains readable in a sealed push.
    static let sealPlaceholder = [
        Option("--title", "TEXT", help: "the placeholder's title; otherwise the store's, otherwise 'New message'"),
        Option(
            "--sound", "NAME",
            help:
                "the placeholder's sound, or none; otherwise the store's, otherwise 'default' when the payload has a sound"
        ),
        Option(
            "--clear", "FIELD", .choice(Placeholder.ClearField.allCases.map(\.rawValue)), isRepeatable: true,
            help: "a field of aps that the relay may read, instead of those that the store names"),
    ]
}

/// A placeholder as one source of settings describes it: a line, the command line or the store. Nil leaves a field to the
/// next source.
struct PlaceholderChoice: Hashable, Sendable {
    var title: String?
    var sound: Placeholder.Sound?
    var clearFields: Set<Placeholder.ClearField>?

    /// Returns this choice, with the other one's values for the fields it leaves open.
    func otherwise(_ other: PlaceholderChoice) -> PlaceholderChoice {
        PlaceholderChoice(
            title: title ?? other.title, sound: sound ?? other.sound, clearFields: clearFields ?? other.clearFields)
    }

    /// Returns the placeholder, with the defaults for the fields left open.
    func placeholder() throws(SealError) -> Placeholder {
        try Placeholder(
            title: title ?? Placeholder.standardTitle, sound: sound ?? .matching, clearFields: clearFields ?? [])
    }
}

// MARK: Sources

extension PlaceholderChoice {
    /// Reads the command line.
    init(_ invocation: Invocation) {
        title = invocation.value("--title")
        sound = invocation.value("--sound").map(Placeholder.Sound.init(word:))
        if invocation.flag("--clear") {
            clearFields = Set(invocation.values("--clear").compactMap(Placeholder.ClearField.init(rawValue:)))
        }
    }

    /// Reads a line's `placeholder`: a title, or an object of `title`, `sound` and `clear`.
    init(_ value: JSONValue) throws(LineFailure) {
        if let title = value.string {
            self.init(title: title)
            return
        }
        guard value.kind == .object else {
            throw LineFailure(.malformedLine, "placeholder must be a title, or an object of title, sound and clear")
        }
        self.init()
        for (name, value) in value.members {
            switch name {
            case "title": title = try Self.text(value, name)
            case "sound": sound = Placeholder.Sound(word: try Self.text(value, name))
            case "clear": clearFields = try Self.fields(value)
            default:
                throw LineFailure(.malformedLine, "placeholder has title, sound and clear, and no \(quoted(name))")
            }
        }
    }

    private static func text(_ value: JSONValue, _ name: String) throws(LineFailure) -> String {
        guard let text = value.string else { throw LineFailure(.malformedLine, "placeholder.\(name) must be a string") }
        return text
    }

    private static func fields(_ value: JSONValue) throws(LineFailure) -> Set<Placeholder.ClearField> {
        let fields = value.elements.compactMap { $0.string.flatMap(Placeholder.ClearField.init(rawValue:)) }
        guard value.kind == .array, fields.count == value.elements.count else {
            let words = Placeholder.ClearField.allCases.map(\.rawValue).joined(separator: ", ")
            throw LineFailure(.malformedLine, "placeholder.clear must be an array of these: \(words)")
        }
        return Set(fields)
    }
}

extension Placeholder.Sound {
    /// Reads the name of a sound, or `none`.
    init(word: String) { self = word == "none" ? .silent : .named(word) }
}

extension Placeholder {
    /// Creates a placeholder for a command, which ends if it is refused.
    init(_ choice: PlaceholderChoice) throws(CommandFailure) {
        do throws(SealError) {
            self = try choice.placeholder()
        } catch {
            throw CommandFailure(error)
        }
    }
}
