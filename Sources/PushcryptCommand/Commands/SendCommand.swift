internal import Pushcrypt
package import PushcryptCommandKit

/// `send`, which another program carries out: so this one is linked with no HTTP library.
struct SendCommand: CommandBody {
    private static let program = "pushcrypt-send"

    static var page: CommandPage { SendArguments.page }

    init(_ arguments: inout Arguments) { _ = SendArguments(&arguments) }

    func run(_ console: Console) throws(CommandFailure) -> ExitCode {
        var words = SystemEnvironment.arguments
        if let name = words.firstIndex(of: "send") { words.remove(at: name) }
        throw ReplacedProcess.run(Self.program, words) == .notFound
            ? .usage(
                "\(Self.program), which carries out 'pushcrypt send', is not installed",
                hint:
                    "in a copy of the source, run make send install-send; it is found beside pushcrypt and in the PATH")
            : .failed("cannot run \(Self.program)")
    }
}

/// The arguments of `send`, which both programs read.
package struct SendArguments: Sendable {
    package enum Environment: String, CaseIterable, Sendable { case production, sandbox }
    package enum Unknown: String, CaseIterable, Sendable {
        case retry
        case giveUp = "give-up"
    }

    package let file: String
    package let key: String?
    package let keyID: String?
    package let team: String?
    package let certificate: String?
    package let passphraseFile: String?
    package let environment: Environment?
    package let host: String?
    package let authorities: String?
    package let proxy: String?
    package let connections: Int?
    /// In seconds.
    package let retryFor: Int?
    /// In milliseconds.
    package let timeout: Int?
    package let rate: Int?
    package let window: Int?
    package let unknown: Unknown?
    package let isInOrder: Bool
    package let isDryRun: Bool
    package let log: LogFormat?
    package let metrics: String?
    package let single: Single

    /// The headers of a single message.
    package struct Single: Sendable {
        package let token: String?
        package let topic: String?
        package let pushType: String?
        package let priority: Int?
        package let expiration: Int?
        package let collapseID: String?

        fileprivate init(_ arguments: inout Arguments) {
            token = arguments.value("--token", "HEX", help: "the device token, for FILE as a single message")
            topic = arguments.value("--topic", "TOPIC", help: "the apns-topic of a single message")
            pushType = arguments.value("--push-type", "TYPE", help: "its apns-push-type; default alert")
            priority = arguments.count("--priority", "NUMBER", 1...10, help: "its apns-priority; default 10")
            expiration = arguments.count(
                "--expiration", "SECONDS", 0...4_294_967_295, help: "its apns-expiration; 0 for one attempt of APNs")
            collapseID = arguments.value("--collapse-id", "ID", help: "its apns-collapse-id")
            for name in ["--topic", "--push-type", "--priority", "--expiration", "--collapse-id"] {
                arguments.option(name, needs: "--token", hint: "the lines of many messages have their own")
            }
        }
    }

    package init(_ arguments: inout Arguments) {
        file = arguments.optionalInput("FILE", help: "the messages, one object per line; default standard input")
        key = arguments.value(
            "--key", "FILE", .secret, help: "the APNs key: AuthKey_KEYID.p8 from the developer account")
        keyID = arguments.value("--key-id", "ID", help: "its id; default the one in its file's name")
        team = arguments.value("--team", "ID", help: "the id of the team that the key belongs to")
        certificate = arguments.value(
            "--certificate", "FILE", .secret,
            help: "certificate and private key, PEM or PKCS #12, instead of a key")
        passphraseFile = arguments.value(
            "--passphrase-file", "FILE", .secret, help: "the passphrase of the certificate's file")
        environment = arguments.choice(
            "--environment", "WHICH", help: "the APNs for lines that do not say; default production")
        host = arguments.value("--host", "HOST[:PORT]", help: "another host than Apple's, for tests, or its port 2197")
        authorities = arguments.value(
            "--ca-file", "FILE", .file, help: "certificates that sign the host's, instead of the system's")
        proxy = arguments.value("--proxy", "URL", help: "an HTTP proxy; default as the variable https_proxy says")
        connections = arguments.count("--connections", "N", 1...64, help: "connections at a time; default 4")
        retryFor = arguments.seconds(
            "--retry-for", "TIME", 1...30 * 86_400, help: "how long a message is tried; default 1h")
        timeout = arguments.milliseconds(
            "--timeout", "TIME", 100...600_000, help: "how long a connection or an answer may take; default 30s")
        rate = arguments.count("--rate", "N", 1...1_000_000, help: "requests a second at most")
        window = arguments.count(
            "--window", "N", 1...100_000, help: "messages between input and answer at most; default 2000")
        unknown = arguments.choice(
            "--unknown", "WHAT", help: "a message of which it is not known whether APNs has it; default retry")
        isInOrder = arguments.flag("--in-order", help: "write the answers in the order of the input")
        isDryRun = arguments.flag("--dry-run", help: "check key and messages, and connect to nothing")
        log = arguments.log()
        metrics = arguments.value(
            "--metrics", "FILE", .file, help: "replace this file every few seconds with counts for Prometheus")
        single = Single(&arguments)
        arguments.atMostOne(of: "--key", "--certificate")
        arguments.option("--key-id", needs: "--key")
        arguments.option("--team", needs: "--key")
        arguments.option("--key", needs: "--team", hint: "the developer account shows it, ten characters")
        arguments.option("--passphrase-file", needs: "--certificate")
    }

    package static var page: CommandPage {
        CommandPage(
            discussion: [
                "Sends what 'seal --emit request' writes, with a member 'token' in each line, the device token, and perhaps 'environment'. Each line gets an answer, in the order in which APNs answers: 'status' and 'apns_id', or an error with 'status', 'reason' and 'retry', which says whether the same line may succeed later; then the line's other members. Lines that 'seal' refused are passed on.",
                "What APNs did not read goes out again at once. Without an answer, and after 429, 500 and 503, a message is sent again with growing pauses until its expiration or --retry-for; a phone rings once for all copies. Twenty equal refusals before anything is accepted end the run with 64.",
                "Connections go to api.push.apple.com, or api.sandbox.push.apple.com, over TLS 1.2 or later, and always verify it. SIGTERM ends the reading; what is under way ends within --timeout.",
            ],
            examples: [
                Example(
                    "pushcrypt seal --batch --emit request messages | pushcrypt send --key AuthKey_ABC123DEFG.p8 --team TEAM123456"
                ),
                Example(
                    "pushcrypt send … < lines | pushcrypt device remove --from-apns-410 -",
                    "forget devices that are gone"),
            ])
    }
}
