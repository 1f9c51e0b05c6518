internal import COpenSSL
internal import Pushcrypt
internal import PushcryptCommandKit

/// The value of `authorization`: a token that is created when the schedule says so. No message or log contains it.
final class ProviderToken {
    private let key: ProviderKey
    let keyID: String
    let team: String
    private var generation = 0
    private var value = ""

    init(_ key: ProviderKey, keyID: String, team: String) {
        self.key = key
        self.keyID = keyID
        self.team = team
    }

    /// The value for a number of the schedule: created, with the time, when the number is new.
    func authorization(_ generation: Int, at now: Moment) throws(CommandFailure) -> String {
        if generation != self.generation {
            value = "bearer " + (try token(issuedAt: now.wall / 1000))
            self.generation = generation
        }
        return value
    }

    /// A JSON Web Token, in seconds since 1970-01-01 UTC.
    func token(issuedAt time: UInt64) throws(CommandFailure) -> String {
        var header = JSONWriter()
        header.object { json in
            json.string("ES256", for: "alg")
            json.string(keyID, for: "kid")
        }
        var claims = JSONWriter()
        claims.object { json in
            json.string(team, for: "iss")
            json.integer(time, for: "iat")
        }
        let text = base64URL(header.bytes) + "." + base64URL(claims.bytes)
        let signature = try key.signature(of: ContiguousArray(text.utf8))
        return text + "." + base64URL(signature)
    }
}

/// Base64url without padding (RFC 7515, section 2).
private func base64URL(_ bytes: ContiguousArray<UInt8>) -> String {
    // With padding, and a zero byte at the end.
    var text = ContiguousArray<UInt8>(repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    _ = unsafe text.withUnsafeMutableBufferPointer { text in
        unsafe bytes.withUnsafeBufferPointer {
            unsafe EVP_EncodeBlock(text.baseAddress, $0.baseAddress, Int32($0.count))
        }
    }
    let characters = text.prefix((bytes.count * 4 + 2) / 3).map { character in
        switch character {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: character
        }
    }
    return String(decoding: characters, as: UTF8.self)
}
