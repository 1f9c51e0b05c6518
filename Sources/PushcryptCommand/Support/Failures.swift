package import Pushcrypt
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
    /// The next step where that is another command or an option, which the libraries do not know: by error code.
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
}

/// Adds the place of the wrong input to errors of `body`; a value on the command line, which is wrong in every call, has exit 64.
func naming<R>(_ place: String, exit: ExitCode? = nil, _ body: () throws -> R) throws -> R {
    do { return try body() } catch { throw Failure(error, in: place, exit: exit) }
}

/// Adds a hint for each code to errors of the store.
func advising<R>(_ hints: [KeyStoreError.Code: String], _ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as KeyStoreError { throw Failure(error, hint: hints[error.code]) }
}

// MARK: The codes of this program, beside those of the libraries

/// A fault of a line itself, as a code for programs.
package enum LineCode: String, CaseIterable, CustomStringConvertible, Sendable {
    /// Not an object, or one with a wrong member.
    case malformedLine = "malformed-line"
    /// Longer than a line may be.
    case lineTooLong = "line-too-long"
    /// A member to pass through has the name of one of the answer's members.
    case reservedKey = "reserved-key"
    /// The user has no devices.
    case noDevice = "no-device"
    /// The device has no key to seal to.
    case noKey = "no-key"
    /// The line, the command line and the keys have no topic.
    case noTopic = "no-topic"
    /// The file of a long body cannot be written.
    case overflowFailed = "overflow-failed"

    package var description: String { rawValue }
}

/// The reason why a message was not sent, as `send` says it; APNs' own word is beside it.
package enum SendCode: String, CaseIterable, CustomStringConvertible, Sendable {
    /// The app is gone from the device, or has another token.
    case unregistered
    /// APNs does not accept the provider token or the certificate.
    case loginRefused = "login-refused"
    /// Device token, topic, environment and key do not go together.
    case wrongAddress = "wrong-address"
    /// APNs refuses the request for another reason.
    case requestRefused = "request-refused"
    /// The payload has nothing encrypted, and the line does not say that this is meant.
    case notSealed = "not-sealed"
    /// The message's time ended.
    case tooLate = "too-late"
    /// APNs did not accept it in time, but may later.
    case apnsBusy = "apns-busy"
    /// It is not known whether APNs has the message.
    case noAnswer = "no-answer"
    /// There was no connection to APNs.
    case unreachable
    /// APNs refuses every message of its topic, or its environment's login.
    case onHold = "on-hold"
    /// The time for retries ended before a stream was free.
    case notTried = "not-tried"
    /// The run ended first.
    case notSent = "not-sent"

    package var description: String { rawValue }
}

extension Failure {
    /// A refused line, or the end of a command that works on one.
    package init(_ code: LineCode, _ reason: String) {
        self.init(.usage, code: code.rawValue, reason: reason, "\(code): \(reason)")
    }

    package init(_ code: SendCode, _ reason: String) {
        self.init(.refused, code: code.rawValue, reason: reason, "\(code): \(reason)")
    }

    /// Writes the members `error` and `line`.
    package func write(line number: Int, to json: inout JSONWriter) {
        json.object(for: "error") { json in
            json.string(code, for: "code")
            json.string(SecretText.removed(from: reason), for: "message")
        }
        json.integer(number, for: "line")
    }

    /// Whether `write` wrote these members: the names alone do not suffice.
    static func isWritten(in members: [JSONMember]) -> Bool {
        guard let error = members.first(where: { $0.name == "error" })?.value.members,
            members.first(where: { $0.name == "line" })?.value.integer != nil
        else { return false }
        return error.map(\.name) == ["code", "message"] && error.allSatisfy { $0.value.kind == .string }
    }
}
