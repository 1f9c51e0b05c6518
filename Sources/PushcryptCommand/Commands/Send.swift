package import Pushcrypt
package import PushcryptCommandKit
internal import PushcryptKeyStore

extension SendArguments {
    /// Runs `pushcrypt-send`, so that this program needs no HTTP library.
    func runSender(_ console: Console) throws {
        let words = console.arguments(without: ["send"])
        if relay != nil { throw runSendProgram(words) }
        let settings = try login.settings(of: store, console)
        if let relay = try settings?.setting(.relay) {
            throw runSendProgram([SendArguments.relayOption, relay] + words)
        }
        let stored = isDryRun ? [] : try login.options(from: settings, topic: false)
        throw runSendProgram(stored + keptToken(console) + words)
    }

    /// Where the provider token is kept: APNs refuses one that is created again within 20 minutes, as a cron job would.
    private func keptToken(_ console: Console) -> [String] {
        guard tokenFile == nil, login.certificate == nil, !isDryRun, let path = console.storePath(given: store.path),
            Folder.kind(of: path + "/store.key", followingLinks: true) == .file
        else { return [] }
        return [SendArguments.tokenFileOption, path + "/provider-token"]
    }
}

extension Command {
    /// `send`, which both programs have.
    package static func send(_ run: @escaping @Sendable (SendArguments, Console) throws -> Void) -> Command {
        Command(
            "send", "send sealed payloads to APNs, and say what it answers",
            about: """
                Sends what 'seal --emit request' writes: each line has the device's 'token', and perhaps its 'environment'. Each line gets an answer, as APNs answers: 'status' and 'apns_id', or an error with 'status', 'reason' and 'retry', which says whether the same line may succeed later; then the line's other members. Lines that 'seal' refused are passed on. What was never sealed is refused, unless the line says "unencrypted":true.
                Without --key and --certificate, the store's settings key-file, key-id, team and environment say who sends; see 'config' and 'doctor --send'.
                """,
            more: """
                What APNs did not read goes out again at once. Without an answer, and after 429 and 5xx, a message is sent again with growing pauses until its expiration or --retry-for; a phone rings once for all copies. What is not encrypted is not sent again if it may have arrived. After twenty refusals in a row of the login, or of a topic that never worked, one message at a time tries it until APNs accepts one. Standard error says when such an outage begins and ends.
                Connections go to api.push.apple.com, or for development to api.sandbox.push.apple.com, over TLS 1.2 or later, and always verify it, through the proxy that the variable https_proxy names. SIGTERM ends the reading; what is under way ends within --timeout.
                """,
            examples: [
                "pushcrypt seal --batch --emit request messages | pushcrypt send --key AuthKey_ABC123DEFG.p8 --team TEAM123456",
                Example(
                    "pushcrypt send … < lines | pushcrypt device remove --from-apns-410 -",
                    "forget devices that are gone"),
            ]
        ) { a in
            let arguments = SendArguments(&a)
            a.messageFormat = arguments.log?.messages
            return { try run(arguments, $0) }
        }
    }
}

/// The arguments of `send`, which both programs read.
package struct SendArguments: Sendable {
    static let relayOption = "--relay"
    fileprivate static let tokenFileOption = "--provider-token-file"

    package let file: String
    package let login: SendLogin
    /// The origin of a publisher's relay, to which messages go instead of APNs.
    package let relay: String?
    package let connections: Int?
    /// In seconds.
    package let retryFor: Int?
    package let repeatsClear: Bool
    package let isInOrder: Bool
    package let isDryRun: Bool
    package let log: LogFormat?
    package let tokenFile: String?
    package let metrics: String?
    package let healthFile: String?
    let store: StoreArguments

    package init(_ arguments: inout Arguments) {
        arguments.group("who sends")
        login = SendLogin(&arguments)
        arguments.group("who sends")
        relay = arguments.value(
            Self.relayOption, "ORIGIN",
            help: "send through a publisher's relay, such as https://push.example.com, with the store's push key")
        arguments.group("how")
        isDryRun = arguments.flag("--dry-run", help: "check key and messages, and connect to nothing")
        isInOrder = arguments.flag("--in-order", help: "write the answers in the order of the input")
        retryFor = arguments.seconds(
            "--retry-for", "TIME", 1...30 * 86_400, help: "how long a message is tried; default 1h")
        log = arguments.log()
        arguments.group("how", isAdvanced: true)
        connections = arguments.count("--connections", "N", 1...64, help: "connections at a time; default 4")
        repeatsClear = arguments.flag(
            "--repeat-unencrypted",
            help: "also repeat unencrypted messages that may have arrived: a phone may ring twice")
        tokenFile = arguments.value(
            Self.tokenFileOption, "FILE", .file,
            help: "keep the provider token here for the next process; default in the store's folder, if there is one")
        arguments.group("for operators", isAdvanced: true)
        metrics = arguments.value(
            "--metrics", "FILE", .file, help: "replace this file every few seconds with counts for Prometheus")
        healthFile = arguments.value(
            "--health-file", "FILE", .file, help: "replace this file every few seconds with the state, as JSON")
        arguments.group(nil)
        store = StoreArguments(&arguments)
        arguments.option(
            Self.relayOption,
            excludes: [
                "--key", "--certificate", "--environment", "--host", "--repeat-unencrypted",
                Self.tokenFileOption,
            ], hint: "the relay knows where Apple delivers to")
        file = arguments.optionalInput("FILE", help: "the messages, one object per line; default standard input")
    }
}

// MARK: Relays

extension SendArguments {
    /// Reads the origin of a relay.
    package static func origin(_ text: String) throws -> RelayOrigin {
        guard let origin = RelayOrigin(text) else {
            throw Failure.usage(
                "\(relayOption) cannot be \(quoted(text))",
                hint:
                    "write its origin as the publisher does, such as https://push.example.com; http only in a private network"
            )
        }
        return origin
    }

    /// The push keys of the store, for as long as the command runs: the present one, then the one before or after it.
    package func pushKeys(_ console: Console) throws -> () throws -> [PushKey] {
        try Self.pushKeys(of: try console.open(store), console)
    }

    /// Returns a function that reads the keys; if it cannot, those that it read last. It throws if they were removed.
    static func pushKeys(of store: SQLiteKeyStore, _ console: Console) throws -> () throws -> [PushKey] {
        func read() throws -> [PushKey] {
            let keys = try store.pushSecrets(at: console.timestamp)
            // The next one too: another machine's clock may be ahead.
            return [keys.current] + [keys.previous ?? keys.next].compactMap(\.self)
        }
        let hints: [KeyStoreError.Code: String] = [.unknownName: "pushcrypt key new push makes one"]
        var last = try advising(hints, read)
        return {
            do {
                last = try read()
            } catch {
                // A thief may have a key that was removed.
                if (error as? KeyStoreError)?.code == .unknownName { return try advising(hints) { throw error } }
            }
            return last
        }
    }
}
