internal import Pushcrypt
package import PushcryptCommandKit
internal import PushcryptKeyStore

// Library errors as the end of a command. Exit 65 means that the same input fails again, exit 64 that the call or the set-up
// must change, and exit 1 that the same call may succeed later.

extension ExitCode {
    /// The codes of lines that may succeed later as they are, some of them only once the set-up is right.
    private static let passing: Set = [
        "store-busy", "disk-full", "input-output", "overflow-failed", "changed-file", "store-missing", "newer-version",
        "older-version", "store-locked", "store-key-missing", "passphrase-needed",
        "wrong-passphrase", "provider-offline", "unknown-name", "ambiguous-name", "no-topic", "unsupported-suite",
    ]

    /// The end of a batch in which lines were refused with these codes: 1 if one of them may succeed later.
    init(refusedLines codes: some Sequence<String>) {
        let passing = codes.map(Self.passing.contains)
        self = passing.isEmpty ? .done : passing.contains(true) ? .failed : .refused
    }

    /// The end of a command with an error of the libraries.
    fileprivate init(_ error: any CodedError) {
        self =
            switch error {
            case let error as SealError:
                switch error.code {
                case .invalidPlaceholder, .invalidTime, .invalidRequest, .unsupportedSuite: .usage
                default: .refused
                }
            case let error as AttachmentError: error.code == .changedFile ? .failed : .refused
            case let error as KeyError: error.code == .unsupportedSuite ? .usage : .refused
            case let error as KeyStoreError:
                switch error.code {
                case .storeBusy, .diskFull, .inputOutput: .failed
                case .corruptStore, .generationRollback, .generationTooHigh, .userMismatch, .keyTaken,
                    .suiteDowngrade, .badRecordSignature, .staleRecord,
                    .futureTime, .keyIDTaken, .unknownDevice, .removedDevice, .malformedCertificate, .weakKey,
                    .badCertificateSignature, .certificateConflict, .wrongCertificate, .malformedRequest,
                    .epochsExhausted:
                    .refused
                default: .usage
                }
            default: .refused
            }
    }
}

extension Failure {
    /// What to do next where that is another command or an option, which the libraries do not know: by error code.
    private static let hints = [
        "key-taken": ["if the other device is gone, pushcrypt device remove it first"],
        "generation-too-high": ["if the device was set up again, --replace accepts it"],
        "generation-rollback": ["if the device was set up again, --replace accepts it"],
        "name-taken": ["pushcrypt key rotate replaces its key; --name chooses another name"],
        "provider-already-pinned": ["pushcrypt provider unpin ends the trust in the other key"],
        "provider-offline": [
            "pushcrypt key rotate --request makes a request, and key certify signs it where the provider key is"
        ],
        "reserved-key": ["--attachment adds attachments to a payload"],
        "suite-downgrade": ["if the device was set up again, --replace accepts it"],
        "store-missing": ["pushcrypt init with the same --store (or PUSHCRYPT_STORE) creates one there"],
        "stale-store": ["pushcrypt key rotate, and see A stale store in Docs/Devices.md"],
        "too-many-pins": ["pushcrypt provider unpin ends the trust in another key"],
        "topic-mismatch": ["--replace changes the app"],
        "unknown-device": ["pushcrypt device list shows them, device add registers one"],
        "user-mismatch": ["--replace gives the device to the user that you name"],
        "unknown-name": [
            "pushcrypt key new provider creates a provider's key, key new device a phone's; is this the right --store?"
        ],
    ]

    /// The end of a command, or the answer to a line.
    ///
    /// - Parameters:
    ///   - place: Where the wrong input is.
    ///   - exit: The exit code, if it is not the error's own.
    package init(
        _ error: any Error, in place: String? = nil, exit: ExitCode? = nil, hint: String? = nil
    ) {
        if let failure = error as? Failure {
            self = failure
            return
        }
        guard let error = error as? any CodedError else {
            self.init(.failed, "\(error)", cause: error)
            return
        }
        let code = "\(error.code)"
        let isRow = (error as? KeyStoreError).map { $0.code == .corruptStore && $0.concernsOneRow } ?? false
        self.init(
            exit ?? ExitCode(error), code: code, reason: "\(error)",
            (place.map { "\($0): " } ?? "") + "\(code): \(error)",
            hints: hint.map { [$0] } ?? (isRow ? ["pushcrypt doctor lists all such rows"] : Self.hints[code] ?? []),
            cause: error)
    }

    /// A value on the command line, which is wrong in every call.
    init(_ error: any Error, inOption name: String) { self.init(error, in: name, exit: .usage) }
}

/// Adds the place of the wrong input to errors of `body`.
func naming<R>(_ place: String, exit: ExitCode? = nil, _ body: () throws -> R) throws -> R {
    do { return try body() } catch { throw Failure(error, in: place, exit: exit) }
}

extension Console {
    /// The current time.
    var timestamp: Timestamp { Timestamp(milliseconds: now()) }
}
