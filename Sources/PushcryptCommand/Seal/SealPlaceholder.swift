internal import Pushcrypt

extension Option {
    /// What of a sealed push stands in the clear.
    static let sealPlaceholder = [
        Option("--title", "TEXT", help: "the placeholder's title; otherwise the store's, otherwise 'New message'"),
        Option(
            "--sound", "NAME",
            help: "the placeholder's sound, or none; otherwise 'default' when the payload has a sound"),
        Option(
            "--clear", "FIELD", .choice(Placeholder.ClearField.allCases.map(\.rawValue)), isRepeatable: true,
            help: "a field of aps that the relay may read"),
    ]
}

extension Placeholder {
    /// Takes the placeholder of the command line, with the store's title where it names none.
    init(_ invocation: Invocation, storeTitle: String?) throws(CommandFailure) {
        let sound: Sound =
            switch invocation.value("--sound") {
            case nil: .matching
            case "none": .silent
            case let name?: .named(name)
            }
        self = try .checked(
            title: invocation.value("--title") ?? storeTitle, sound: sound,
            clearFields: Set(invocation.values("--clear").compactMap(ClearField.init(rawValue:))))
    }
}
