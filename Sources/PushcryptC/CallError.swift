internal import CPushcrypt
internal import Pushcrypt

/// The error of a call: its return value, and the text for `pushcrypt_last_error`.
///
/// The values are the exit codes of the command: 64 if the call or the setup must change, 65 if the same input will
/// fail again, 1 if the same call may succeed later.
struct CallError: Error {
    /// The errors of calls themselves; other codes are those of the Swift library.
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

    /// An invalid argument.
    static func invalid(_ description: String) -> CallError {
        CallError(PUSHCRYPT_MISUSE, "\(Code.invalidCall.rawValue): \(description)")
    }

    static func tooSmall(_ capacity: Int, needed: Int) -> CallError {
        CallError(
            PUSHCRYPT_TOO_SMALL,
            "\(Code.bufferTooSmall.rawValue): the output has \(capacity) bytes, and \(needed) are needed; call again with that many"
        )
    }

    init(_ error: SealError) {
        let result =
            switch error.code {
            case .invalidPlaceholder, .invalidTime, .invalidRequest, .pushTypeNotSealable: PUSHCRYPT_MISUSE
            default: PUSHCRYPT_REFUSED
            }
        self.init(result, "\(error.code): \(error)")
    }

    init(_ error: OpenError) {
        self.init(PUSHCRYPT_REFUSED, "\(error.code): \(error)")
    }

    /// The error of a key from the caller's setup.
    init(_ error: KeyError, in place: String) {
        self.init(PUSHCRYPT_MISUSE, "\(error.code): \(place): \(error)")
    }

    /// The error of a certificate from the caller's setup.
    init(_ error: TrustError, in place: String) {
        self.init(PUSHCRYPT_MISUSE, "\(error.code): \(place): \(error)")
    }

    /// The error of the key of a device, which a device has sent.
    init(recipient error: KeyError) {
        self.init(PUSHCRYPT_REFUSED, "\(error.code): device_key: \(error)")
    }
}
