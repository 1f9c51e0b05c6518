internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Command {
    static let deviceAccept = Command(
        "accept", "answer what a phone posts without a session",
        about: """
            Reads the body of what a phone posts to the address of its code: a request to pair, its signed record, the end of its device, an answer, or a hello. Prints the body of the answer, with status 200. The answer may say why the phone is refused, as does standard error.
            No session is needed: a record counts only if the device's update key has signed it, which no server has. Nothing is lost if a post comes twice, late or changed.
            Exit 65 without an answer is status 404: not a post, or the code is unknown or has ended. Any other failure is 503: the phone posts again.
            """,
        more: """
            --json writes the response body as 'reply', with 'outcome' and 'device'. If the post is a user's answer, it is in 'answer': pass it to 'answer open'. Without --json such a post is refused, because the answer would be lost.
            --serve listens on a Unix socket for a web server that speaks SCGI, such as nginx, and asks for the passphrase once. A request may have at most 64 KB and must arrive within 10 seconds. Before it replies to a post, it writes a line of JSON about it to standard output, without the reply. SIGTERM ends it.
            """,
        examples: [
            "pushcrypt device accept < request > reply",
            "pushcrypt device accept --serve /run/pushcrypt/accept.sock > posts",
        ]
    ) { a in
        let socket = a.value(
            "--serve", "SOCKET", help: "take posts at this Unix socket, which only its owner and group may use")
        let (store, isJSON) = (StoreArguments(&a), a.json())
        a.option("--serve", excludes: ["--json"], hint: "it writes JSON in any case")
        let file = a.optionalInput("FILE", help: "what the phone has posted; default standard input")
        return { console in
            if let socket { return try console.serve(at: socket, store) }
            let post = try PhonePost(posted: try console.read(file, limit: PhonePost.maximumLength + 1))
            if case .answer = post, !isJSON {
                throw Failure.usage(
                    "the post is an answer, which only --json prints", hint: "add --json, and give it to answer open")
            }
            let answer = try console.accept(post, try console.open(store))
            try console.write(line: isJSON ? answer.json(withReply: true) : answer.body)
        }
    }
}

extension PhonePost {
    /// Reads a post.
    init(posted text: ContiguousArray<UInt8>) throws {
        self = try naming("the phone's post") { try PhonePost(json: text, over: .open) }
    }
}

extension Console {
    /// Takes a post, and reports what it has changed.
    func accept(_ post: PhonePost, _ store: SQLiteKeyStore) throws -> PostAnswer {
        let answer = try failing {
            let terms = ReplyTerms(suites: try store.permittedSuites(), topic: try store.defaultTopic())
            return try store.accept(post, terms, at: timestamp)
        }
        guard let answer else {
            throw PairingError(.unknown, "no open code belongs to this request: answer with status 404")
        }
        switch answer.event {
        case .registered(let id, let outcome): try changed("\(outcome)", id, in: store)
        case .paired(let id, _): try changed("paired", id, in: store)
        case .repeated(let id): hint("\(quoted(id)) has paired, and gets its reply again")
        case .ended(let id): changed("removed \(id): its user has logged out")
        case .refused(let refusal, let error):
            warning("the phone is refused: \(refusal)" + (error.map { ": \($0)" } ?? ""))
        case .answer, .hello: break
        }
        return answer
    }

    private func changed(_ verb: String, _ id: String, in store: SQLiteKeyStore) throws {
        let device = try store.device(id: id)
        changed(verb, device, id)
        var foreign = try ForeignProviders(of: store)
        foreign.add(id, pinning: device?.pinnedProvider)
        warn(of: foreign)
        warn(ofStale: try RegistrationReplies(of: store, at: timestamp).warning)
    }
}

/// Turns an error of the store into a failure with an exit code other than 65, which says that there is no such code.
func failing<R>(_ body: () throws -> R) throws -> R {
    do {
        return try body()
    } catch {
        let failure = Failure(error)
        throw Failure(.failed, code: failure.code, failure.message, hints: failure.hints, cause: failure.cause)
    }
}

extension PostAnswer {
    /// The outcome of the post, for programs.
    func json(withReply: Bool) -> ContiguousArray<UInt8> {
        let members: KeyValuePairs<String, String> =
            switch event {
            case .registered(let id, let outcome), .paired(let id, let outcome):
                ["device": id, "outcome": "\(outcome)"]
            case .repeated(let id): ["device": id, "outcome": "repeated"]
            case .ended(let id): ["device": id, "outcome": "ended"]
            case .refused(let refusal, _): ["refused": refusal.description]
            case .answer(let text): ["outcome": "answer", "answer": text]
            case .hello: ["outcome": "hello"]
            }
        return jsonObject { json in
            for (name, value) in members { json.string(value, for: name) }
            if withReply { json.string(String(decoding: body, as: UTF8.self), for: "reply") }
        }
    }
}
