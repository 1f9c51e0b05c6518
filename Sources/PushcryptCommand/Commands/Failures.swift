internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

// How the library's errors end a command. Exit 65 says that the same input fails again; exit 64 that the call or the
// set-up must change; exit 1 that the same call may succeed later.

extension CommandFailure {
    init(_ error: SealError) {
        let exit: ExitCode =
            switch error.code {
            case .invalidPlaceholder, .invalidTime, .invalidRequest: .usage
            case .signingFailed: .failed
            default: .refused
            }
        self.init(exit, "\(error.code): \(error)")
    }

    init(_ error: SigningError) {
        self.init(.failed, "\(error.code): \(error)")
    }

    init(_ error: OpenError) {
        self.init(.refused, "\(error.code): \(error)")
    }

    init(_ error: AttachmentError) {
        self.init(error.code == .changedFile ? .failed : .refused, "\(error.code): \(error)")
    }

    init(_ error: KeyError, in place: String) {
        self.init(.refused, "\(place): \(error.code): \(error)")
    }

    /// A key in the command line, which is wrong in every call.
    init(_ error: KeyError, inOption name: String) {
        self.init(.usage, "\(name): \(error.code): \(error)")
    }

    init(_ error: KeyStoreError) {
        let exit: ExitCode =
            switch error.code {
            case .storeBusy, .diskFull, .inputOutput: .failed
            case .corruptStore, .generationRollback, .futureTime, .rotationRefused, .keyIDTaken: .refused
            default: .usage
            }
        self.init(exit, "\(error.code): \(error)", hints: error.hint.map { [$0] } ?? [], cause: error)
    }

    init(_ error: InvalidTopic, in place: String) {
        self.init(.usage, "\(place): \(error)")
    }
}

extension KeyStoreError {
    /// The command or option that solves the problem, which the library does not know.
    fileprivate var hint: String? {
        switch code {
        case .storeMissing: "pushcrypt init creates one; --store names its directory"
        case .corruptStore where concernsOneRow: "pushcrypt doctor lists all such rows"
        case .unknownName: "pushcrypt keygen creates a key"
        case .nameTaken: "pushcrypt rotate replaces its key; --name chooses another name"
        case .unknownDevice: "pushcrypt device add registers it"
        case .generationRollback: "if the device was set up again, --replace accepts it"
        case .topicMismatch: "--replace changes the app"
        case .senderAlreadyTrusted:
            "a rotation brings its own proof; after a theft, --replace ends all trust in the old key"
        default: nil
        }
    }
}

/// Runs calls of the key store inside a command.
func withStoreErrors<R: ~Copyable>(_ body: () throws(KeyStoreError) -> R) throws(CommandFailure) -> R {
    do throws(KeyStoreError) {
        return try body()
    } catch {
        throw CommandFailure(error)
    }
}

extension Invocation {
    /// The topic that the caller gave.
    func topic() throws(CommandFailure) -> Topic? {
        try value("--topic").map { (text) throws(CommandFailure) in try topic(of: text) }
    }

    /// The same, or the topic of an example where any will do.
    func topicOrExample() throws(CommandFailure) -> Topic { try topic(of: value("--topic") ?? "com.example.app") }

    private func topic(of text: String) throws(CommandFailure) -> Topic {
        do throws(InvalidTopic) {
            return try Topic(text)
        } catch {
            throw CommandFailure(error, in: "--topic")
        }
    }
}

extension Console {
    /// The present time, as the library takes it.
    var timestamp: Timestamp { Timestamp(milliseconds: now()) }
}
