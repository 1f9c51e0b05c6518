internal import CPushcrypt
internal import Pushcrypt

/// Why a call gives nothing: what it returns, and what `pushcrypt_last_error` says then.
///
/// Results are those of the command: 64 says that the call or the set-up must change, 65 that the same input fails again, 1 that the
/// same call may succeed later.
struct CallError: Error {
    /// The codes of invalid calls; other codes are the library's.
    enum Code: String, CaseIterable {
        case invalidCall = "invalid-call"
        case bufferTooSmall = "buffer-too-small"
    }

    let result: CInt
    let text: String

    private init(_ result: CInt, _ text: String) {
        self.result = result
        self.text = text
    }

    /// An argument that cannot be.
    static func invalid(_ description: String) -> CallError {
        CallError(PUSHCRYPT_MISUSE, "\(Code.invalidCall.rawValue): \(description)")
    }

    static func tooSmall(_ capacity: Int, needed: Int) -> CallError {
        CallError(
            PUSHCRYPT_TOO_SMALL,
            "\(Code.bufferTooSmall.rawValue): the output has \(capacity) bytes, and \(needed) are needed; call again with so many"
        )
    }

    init(_ error: SealError) {
        let result =
            switch error.code {
            case .invalidPlaceholder, .invalidTime, .invalidRequest, .pushTypeNotSealable: PUSHCRYPT_MISUSE
            case .signingFailed: PUSHCRYPT_FAILED
            default: PUSHCRYPT_REFUSED
            }
        self.init(result, "\(error.code): \(error)")
    }

    init(_ error: OpenError) {
        self.init(PUSHCRYPT_REFUSED, "\(error.code): \(error)")
    }

    /// A key that the caller has set up.
    init(_ error: KeyError, in place: String) {
        self.init(PUSHCRYPT_MISUSE, "\(error.code): \(place): \(error)")
    }

    /// The key of a device, which came from there.
    init(recipient error: KeyError) {
        self.init(PUSHCRYPT_REFUSED, "\(error.code): device_key: \(error)")
    }
}
