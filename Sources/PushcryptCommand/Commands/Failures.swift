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
        let hints = error.code == .reservedKey ? ["seal the original payload; --attachment adds attachments to it"] : []
        self.init(exit, "\(error.code): \(error)", hints: hints)
    }

    init(_ error: SigningError) {
        self.init(.failed, "\(error.code): \(error)")
    }

    init(_ error: OpenError) {
        let hints = error.code == .rotationConflict ? ["'sender trust --replace' pins another key"] : []
        self.init(.refused, "\(error.code): \(error)", hints: hints)
    }

    init(_ error: AttachmentError) {
        self.init(error.code == .changedFile ? .failed : .refused, "\(error.code): \(error)")
    }

    init(_ error: KeyError, in place: String) {
        self.init(.refused, "\(place): \(error.code): \(error)", hints: Self.hints(for: error))
    }

    /// A key in the command line, which is wrong in every call.
    init(_ error: KeyError, inOption name: String) {
        self.init(.usage, "\(name): \(error.code): \(error)", hints: Self.hints(for: error))
    }

    private static func hints(for error: KeyError) -> [String] {
        error.code == .unsupportedKey ? ["'keygen' generates a new key"] : []
    }

    init(_ error: KeyStoreError) {
        let exit: ExitCode =
            switch error.code {
            case .storeBusy, .diskFull, .inputOutput: .failed
            case .corruptStore, .generationRollback, .futureTime, .rotationRefused, .keyIDTaken: .refused
            default: .usage
            }
        self.init(exit, "\(error.code): \(error)", cause: error)
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
