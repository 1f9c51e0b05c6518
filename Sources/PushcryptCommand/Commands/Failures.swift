internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

// Library errors as the end of a command. Exit 65 means that the same input fails again, exit 64 that the call or the set-up
// must change, and exit 1 that the same call may succeed later.

extension CommandFailure {
    /// What to do next where that is another command or an option, which the libraries do not know: by error code.
    private static let hints = [
        "unknown-device": ["pushcrypt device list shows them"]
    ]

    private init(_ exit: ExitCode, _ error: some CodedError, in place: String? = nil) {
        let code = "\(error.code)"
        self.init(
            exit, (place.map { "\($0): " } ?? "") + "\(code): \(error)", hints: Self.hints[code] ?? [], cause: error)
    }

    init(_ error: SealError) {
        let exit: ExitCode =
            switch error.code {
            case .invalidPlaceholder, .invalidTime, .invalidRequest: .usage
            case .signingFailed: .failed
            default: .refused
            }
        self.init(exit, error)
    }

    init(_ error: SigningError) { self.init(.failed, error) }

    init(_ error: OpenError) { self.init(.refused, error) }

    init(_ error: AttachmentError) { self.init(error.code == .changedFile ? .failed : .refused, error) }

    init(_ error: KeyError, in place: String) { self.init(.refused, error, in: place) }

    /// A key on the command line, which is wrong in every call.
    init(_ error: KeyError, inOption name: String) { self.init(.usage, error, in: name) }

    init(_ error: KeyStoreError) {
        let exit: ExitCode =
            switch error.code {
            case .storeBusy, .diskFull, .inputOutput: .failed
            case .corruptStore, .generationRollback, .futureTime, .rotationRefused, .keyIDTaken: .refused
            default: .usage
            }
        self.init(exit, error)
    }

    init(_ error: InvalidTopic, in place: String) {
        self.init(.usage, "\(place): \(error)")
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
