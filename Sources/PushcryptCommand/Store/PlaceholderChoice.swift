internal import Pushcrypt
internal import PushcryptCommandKit

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

// MARK: Command line

/// The options for what remains readable in a sealed push.
struct PlaceholderArguments: Sendable {
    let choice: PlaceholderChoice
    /// The names of the options that were given.
    let given: [String]

    init(_ arguments: inout Arguments) {
        (choice, given) = arguments.given { arguments in
            let title = arguments.value(
                "--placeholder-title", "TEXT",
                help: "the title that Apple may read; default the store's, or 'New message'")
            let sound = arguments.value(
                "--placeholder-sound", "NAME",
                help:
                    "the sound that Apple may read, or none; default the store's, or 'default' if the payload has a sound"
            )
            arguments.group("what Apple may read", isAdvanced: true)
            let fields = arguments.values(
                "--clear", "FIELD", .choice(Placeholder.ClearField.allCases.map(\.rawValue)),
                help: "a field of aps that the relay may read, instead of the store's")
            arguments.group(nil)
            return PlaceholderChoice(
                title: title, sound: sound.map(Placeholder.Sound.init(word:)),
                clearFields: fields.isEmpty ? nil : Set(fields.compactMap(Placeholder.ClearField.init(rawValue:))))
        }
    }
}

extension Placeholder.Sound {
    /// Reads the name of a sound, or `none`.
    init(word: String) { self = word == "none" ? .silent : .named(word) }
}
