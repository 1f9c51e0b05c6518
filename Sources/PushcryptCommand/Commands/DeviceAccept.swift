internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceAccept = Command(
        "accept", "answer what a phone posts without a session",
        about: [
            "Reads the body of what a phone posts to the address of its code: a request to pair, its signed record, the end of its device, an answer, or a hello. Prints the body of the answer, with status 200. The answer may say why the phone is refused, as does standard error.",
            "No session is needed: a record counts only if the device's update key has signed it, which no server has. Nothing is lost if a post comes twice, late or changed.",
            "Exit 65 without an answer is status 404: not a post, or there is no such code, or none any more. Any other failure is 503: the phone posts again.",
        ],
        more: [
            "--json writes the response body as 'reply', with 'outcome' and 'device'. If the post is a user's answer, it is in 'answer': pass it to 'answer open'. Without --json such a post is refused, because the answer would be lost.",
            "--serve listens on a Unix socket for a web server that speaks SCGI, such as nginx, and asks for the passphrase once. A request may have at most 64 KB and must arrive within 10 seconds. Before it replies to a post, it writes a line of JSON about it to standard output, without the reply. SIGTERM ends it.",
        ],
        examples: [
            "pushcrypt device accept < request > reply",
            "pushcrypt device accept --serve /run/pushcrypt/accept.sock > posts",
        ]
    ) { a in
        let command = DeviceAcceptCommand(&a)
        return { try command.run($0) }
    }
}

struct DeviceAcceptCommand {
    private let file: String
    private let store: StoreArguments
    private let isJSON: Bool
    private let socket: String?

    init(_ arguments: inout Arguments) {
        socket = arguments.value(
            "--serve", "SOCKET", help: "take posts at this Unix socket, which only its owner and group may use")
        store = StoreArguments(&arguments)
        isJSON = arguments.json()
        arguments.option("--serve", excludes: ["--json"], hint: "it writes JSON in any case")
        file = arguments.optionalInput("FILE", help: "what the phone has posted; default standard input")
    }

    func run(_ console: Console) throws -> ExitCode {
        if let socket { return try DeviceServe(path: socket, arguments: store, console: console).run() }
        let post = try Self.post(try console.read(file, limit: PhonePost.maximumLength + 1))
        if case .answer = post, !isJSON {
            throw Failure.usage(
                "the post is an answer, which only --json prints", hint: "add --json, and give it to answer open")
        }
        let answer = try Self.accept(post, try console.open(store), console)
        return try write(answer, console)
    }

    /// Reads a post.
    static func post(_ text: ContiguousArray<UInt8>) throws -> PhonePost {
        do throws(KeyError) { return try PhonePost(json: text, over: .open) } catch {
            throw Failure(error, in: "the phone's post")
        }
    }

    /// Takes a post, and reports what it has changed.
    static func accept(
        _ post: PhonePost, _ store: SQLiteKeyStore, _ console: Console
    ) throws -> PostAnswer {
        let answer: PostAnswer?
        do throws(KeyStoreError) {
            let terms = ReplyTerms(suites: try store.permittedSuites(), topic: try store.defaultTopic())
            answer = try store.accept(post, terms, at: console.timestamp)
        } catch {
            // A failure of the store is not 65, which says that there is no such code.
            let failure = Failure(error)
            throw Failure(.failed, code: failure.code, failure.message, hints: failure.hints, cause: error)
        }
        guard let answer else {
            throw Failure(PairingError(.unknown, "no open code belongs to this request: answer with status 404"))
        }
        try report(answer, store, console)
        return answer
    }

    /// Writes the body of the answer, in --json beside what became of the post.
    private func write(_ answer: PostAnswer, _ console: Console) throws -> ExitCode {
        guard isJSON else {
            try console.write(String(decoding: answer.body, as: UTF8.self) + "\n")
            return .done
        }
        try console.write(line: answer.json(withReply: true))
        return .done
    }

    private static func report(
        _ answer: PostAnswer, _ store: SQLiteKeyStore, _ console: Console
    ) throws {
        switch answer.event {
        case .registered(let id, let outcome): try changed(outcome.name, id, store, console)
        case .paired(let id, _): try changed("paired", id, store, console)
        case .repeated(let id): console.hint("\(quoted(id)) has paired, and gets its reply again")
        case .ended(let id): console.changed("removed \(id): its user has logged out")
        case .refused(let refusal, let error):
            console.warning("the phone is refused: \(refusal)" + (error.map { ": \($0)" } ?? ""))
        case .answer, .hello: break
        }
    }

    private static func changed(
        _ verb: String, _ id: String, _ store: SQLiteKeyStore, _ console: Console
    ) throws {
        let device = try store.device(id: id)
        console.changed(verb, device, id)
        var foreign = try ForeignProviders(of: store)
        foreign.add(id, pinning: device?.pinnedProvider)
        console.warn(of: foreign)
        console.warn(ofStale: try RegistrationReplies(of: store, at: console.timestamp).warning)
    }
}

extension PostAnswer {
    /// What became of the post, for programs.
    func json(withReply: Bool) -> ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            for (name, value) in event.members { json.string(value, for: name) }
            if withReply { json.string(String(decoding: body, as: UTF8.self), for: "reply") }
        }
        return json.bytes
    }
}

extension PostAnswer.Event {
    fileprivate var members: KeyValuePairs<String, String> {
        switch self {
        case .registered(let id, let outcome), .paired(let id, let outcome): ["device": id, "outcome": outcome.name]
        case .repeated(let id): ["device": id, "outcome": "repeated"]
        case .ended(let id): ["device": id, "outcome": "ended"]
        case .refused(let refusal, _): ["refused": refusal.description]
        case .answer(let text): ["outcome": "answer", "answer": text]
        case .hello: ["outcome": "hello"]
        }
    }
}
