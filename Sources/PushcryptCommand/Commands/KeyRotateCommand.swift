internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let keyRotate = Command(
        "rotate", "change a key without losing a notification in flight",
        about: [
            "Of a provider: creates a signing key, certifies it with the provider key, and destroys the signing key before it. Phones follow with their next push. Planned, what the old key signed opens for 38 more days; with --stolen it ends at once. With several provider keys, name one.",
            "Docs/Keys.md has the recipes.",
        ],
        more: [
            "With the provider key offline, --request and --install are the two halves, and 'key certify' is between them. --provider-signer runs a program that has it certify, for example for a key in a hardware module.",
            "Of a device: creates a pending key, or finds the pending one, and prints what to register. It opens from now on. Register it with the provider, then run --confirm; the first message that opens with it also confirms it.",
        ],
        examples: [
            Example("pushcrypt key rotate --if-older-than 90d", "from cron"),
            Example("pushcrypt key rotate --request --stolen -o request.json", "after a theft"),
            "pushcrypt key rotate --install certificate.json",
            Example("pushcrypt key rotate --json", "of a device: the record to register"),
            Example("pushcrypt key rotate --confirm", "the provider has it"),
        ]
    ) { a in
        let command = KeyRotateCommand(&a)
        return { try command.run($0) }
    }
}

struct KeyRotateCommand {
    private let key: OwnKeyArguments
    private let minimumAge: Interval?
    private let device: DeviceRotation
    private let provider: ProviderRotation
    private let store: StoreArguments
    private let isJSON: Bool

    init(_ arguments: inout Arguments) {
        minimumAge = arguments.seconds(
            "--if-older-than", "TIME", 1...3650 * 86_400, help: "do nothing while the key is younger, for cron"
        ).map { .seconds(UInt64($0)) }
        provider = ProviderRotation(&arguments)
        device = DeviceRotation(&arguments)
        arguments.group(nil)
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        key = OwnKeyArguments(&arguments)
    }

    func run(_ console: Console) throws -> ExitCode {
        if let first = device.given.first, let second = provider.given.first {
            throw Failure.usage(
                "\(first) is about a device's key, and \(second) about a provider's", hint: "leave one of them out")
        }
        let store = try console.open(store)
        let kind = try chosenKind(in: store)
        let rotated = RotatedKey(
            store: store, name: key.name, minimumAge: minimumAge, isJSON: isJSON)
        switch kind {
        case .device: return try device.run(rotated, console)
        case .provider: return try provider.run(rotated, console)
        case .push:
            throw Failure.usage(
                "a push key does not rotate", hint: "'key new push --next' makes the one that replaces it")
        }
    }

    /// Options that only one kind of key has say which one is meant.
    private func chosenKind(in store: SQLiteKeyStore) throws -> KeyKind {
        let options = [(KeyKind.device, device.given.first), (.provider, provider.given.first)]
        for case (let kind, let option?) in options {
            guard key.kind == nil || key.kind == kind else {
                throw Failure.usage("\(option) is about a \(kind)'s key", hint: "leave it out, or write --kind \(kind)")
            }
            return kind
        }
        return try key.kind(in: store)
    }
}

/// The key that `key rotate` changes, and how.
struct RotatedKey {
    let store: SQLiteKeyStore
    let name: String?
    let minimumAge: Interval?
    let isJSON: Bool
}

extension Console {
    func hintYoung(_ date: Timestamp?) {
        hint("the key was made \(date.map { "\($0)" } ?? "just now"): nothing to do yet")
    }
}
