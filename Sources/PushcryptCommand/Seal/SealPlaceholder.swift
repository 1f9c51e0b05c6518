internal import Pushcrypt
internal import PushcryptCommandKit

extension Option {
    /// What of a sealed push stands in the clear.
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

/// What somebody has said of a placeholder, and what he has left open.
struct PlaceholderChoice: Hashable, Sendable {
    var title: String?
    var sound: Placeholder.Sound?
    var clearFields: Set<Placeholder.ClearField>?

    /// What this leaves open, as another one says.
    func otherwise(_ other: PlaceholderChoice) -> PlaceholderChoice {
        PlaceholderChoice(
            title: title ?? other.title, sound: sound ?? other.sound, clearFields: clearFields ?? other.clearFields)
    }

    /// The placeholder, with what is usual where nothing was said.
    func placeholder() throws(SealError) -> Placeholder {
        try Placeholder(
            title: title ?? Placeholder.standardTitle, sound: sound ?? .matching, clearFields: clearFields ?? [])
    }
}

extension PlaceholderChoice {
    /// Takes what the command line says.
    init(_ invocation: Invocation) {
        title = invocation.value("--title")
        sound = invocation.value("--sound").map(Placeholder.Sound.init(word:))
        if invocation.flag("--clear") {
            clearFields = Set(invocation.values("--clear").compactMap(Placeholder.ClearField.init(rawValue:)))
        }
    }
}

extension Placeholder.Sound {
    /// Takes the name of a sound, or `none`.
    init(word: String) { self = word == "none" ? .silent : .named(word) }
}

extension Placeholder {
    /// Makes a placeholder; a refusal of it ends the command.
    init(_ choice: PlaceholderChoice) throws(CommandFailure) {
        do throws(SealError) {
            self = try choice.placeholder()
        } catch {
            throw CommandFailure(error)
        }
    }
}
