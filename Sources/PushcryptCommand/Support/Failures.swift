internal import Pushcrypt
internal import PushcryptCommandKit
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
}

extension CommandFailure {
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

    private init(_ exit: ExitCode, _ error: some CodedError, in place: String? = nil, hints: [String]? = nil) {
        let code = "\(error.code)"
        self.init(
            exit, code: code, (place.map { "\($0): " } ?? "") + "\(code): \(error)",
            hints: hints ?? Self.hints[code] ?? [],
            cause: error)
    }

    init(_ error: SealError) {
        let exit: ExitCode =
            switch error.code {
            case .invalidPlaceholder, .invalidTime, .invalidRequest, .unsupportedSuite: .usage
            default: .refused
            }
        self.init(exit, error)
    }

    init(_ error: PairingError) { self.init(.refused, error) }

    init(_ error: OpenError) { self.init(.refused, error) }

    init(_ error: TrustError, in place: String? = nil) {
        self.init(.refused, error, in: place)
    }

    init(_ error: AttachmentError) { self.init(error.code == .changedFile ? .failed : .refused, error) }

    init(_ error: KeyError, in place: String) {
        self.init(error.code == .unsupportedSuite ? .usage : .refused, error, in: place)
    }

    /// A key on the command line, which is wrong in every call.
    init(_ error: KeyError, inOption name: String) { self.init(.usage, error, in: name) }

    init(_ error: KeyStoreError, hint: String? = nil) {
        let exit: ExitCode =
            switch error.code {
            case .storeBusy, .diskFull, .inputOutput: .failed
            case .corruptStore, .generationRollback, .generationTooHigh, .userMismatch, .keyTaken,
                .suiteDowngrade, .badRecordSignature, .staleRecord,
                .futureTime, .keyIDTaken, .unknownDevice, .removedDevice, .malformedCertificate, .weakKey,
                .badCertificateSignature, .certificateConflict, .wrongCertificate, .malformedRequest, .epochsExhausted:
                .refused
            default: .usage
            }
        let isRow = error.code == .corruptStore && error.concernsOneRow
        self.init(exit, error, hints: isRow ? ["pushcrypt doctor lists all such rows"] : hint.map { [$0] })
    }
}

/// Turns errors of the key store into failures of a command.
func withStoreErrors<R: ~Copyable>(_ body: () throws(KeyStoreError) -> R) throws(CommandFailure) -> R {
    do throws(KeyStoreError) {
        return try body()
    } catch {
        throw CommandFailure(error)
    }
}

extension Console {
    /// The current time.
    var timestamp: Timestamp { Timestamp(milliseconds: now()) }
}

/// Turns errors of certificates into failures of a command; `place` is where the certificate is from.
func withTrustErrors<R>(in place: String? = nil, _ body: () throws(TrustError) -> R) throws(CommandFailure) -> R {
    do throws(TrustError) {
        return try body()
    } catch {
        throw CommandFailure(error, in: place)
    }
}
