package import Pushcrypt
package import PushcryptCommandKit
internal import PushcryptKeyStore

extension AnswerFetchArguments {
    /// Has `pushcrypt-send` carry it out: so this program is linked with no HTTP library.
    func runSender(_ console: Console) throws -> ExitCode {
        // Options may stand before the command.
        var words = console.arguments
        for name in ["answer", "fetch"] { words.firstIndex(of: name).map { _ = words.remove(at: $0) } }
        throw runSendProgram(["answer", "fetch"] + words)
    }
}

extension Command {
    /// `answer fetch`, which both programs have.
    package static func answerFetch(
        _ run: @escaping @Sendable (AnswerFetchArguments, Console) throws -> ExitCode
    ) -> Command {
        Command(
            "fetch", "take answers from a publisher's relay, and open them",
            about: [
                "A phone that cannot reach its server leaves answers with the publisher's relay, sealed, for an hour. This takes those for the store's push key, and writes each as 'answer open' does. The relay forgets an answer only after it was written: if this command is killed, the answer comes again, with \"repeated\": true.",
                "Exits with 0 even if there are no answers. For an answer that does not open it prints a warning, goes on, and exits with 65 at the end.",
            ],
            more: [
                "The relay can hold answers back: give approvals a --within. With --follow, an unreachable relay is tried again."
            ],
            examples: [
                "pushcrypt answer fetch --within 10m",
                "pushcrypt answer fetch --follow --json | while read -r answer; do …; done",
            ]
        ) { a in
            let arguments = AnswerFetchArguments(&a)
            return { try run(arguments, $0) }
        }
    }
}

/// The arguments of `answer fetch`, which both programs read.
package struct AnswerFetchArguments: Sendable {
    private let relay: String?
    package let isFollowing: Bool
    package let isJSON: Bool
    package let login: SendLogin
    private let limit: Interval
    private let topic: TopicArgument
    private let store: StoreArguments

    package init(_ arguments: inout Arguments) {
        isFollowing = arguments.flag("--follow", help: "keep waiting for answers, until a signal")
        limit = arguments.answerLimit()
        relay = arguments.value(
            SendArguments.relayOption, "ORIGIN", help: "the publisher's relay; default the store's setting 'relay'")
        topic = TopicArgument(&arguments, help: "the app, if its provider key is not bound to it")
        isJSON = arguments.json()
        login = SendLogin(connection: &arguments)
        store = StoreArguments(&arguments)
    }

    /// The relay's origin, and the push keys that sign requests to it, read at each call.
    package func relay(_ console: Console) throws -> (RelayOrigin, () -> [PushKey]) {
        let opened = try console.open(store)
        let stored = try opened.setting(.relay)
        guard let text = relay ?? stored else {
            throw Failure.usage(
                "no relay is known", hint: "name it with --relay, or store it: pushcrypt config relay ORIGIN")
        }
        return (try SendArguments.origin(text), try SendArguments.pushKeys(of: opened, console))
    }

    package func answers(_ console: Console) throws -> StoredAnswers {
        try StoredAnswers(try console.open(store), try topic.topic(console), limit, console)
    }
}
