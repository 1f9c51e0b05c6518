internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

/// The value of `authorization`: a token that is created when the schedule says so. No message or log contains it.
final class ProviderToken {
    private let key: ProviderKey
    let keyID: String
    let team: String
    /// Where tokens are kept between processes: APNs refuses a new one within 20 minutes. Nil for none.
    private let file: String?
    private var generation = 0
    private var value = ""

    init(_ key: ProviderKey, keyID: String, team: String, file: String? = nil) {
        self.key = key
        self.keyID = keyID
        self.team = team
        self.file = file
    }

    /// The value for a number of the schedule: created, with the server's time, when the number is new.
    func authorization(_ generation: Int, at time: UInt64, _ console: Console) throws -> String {
        if generation != self.generation {
            let time = time / 1000
            let token = try token(issuedAt: time)
            value = "bearer " + token
            self.generation = generation
            keep(token, issuedAt: time, console)
        }
        return value
    }

    /// A JSON Web Token, in seconds since 1970-01-01 UTC.
    func token(issuedAt time: UInt64) throws -> String {
        let header = jsonObject { json in
            json.string("ES256", for: "alg")
            json.string(keyID, for: "kid")
        }
        let claims = jsonObject { json in
            json.string(team, for: "iss")
            json.integer(time, for: "iat")
        }
        let text = Base64URL.string(header.span) + "." + Base64URL.string(claims.span)
        let signature = try key.signature(of: ContiguousArray(text.utf8))
        return text + "." + Base64URL.string(signature.span)
    }
}

// MARK: Between processes

extension ProviderToken {
    /// The longest file that is read.
    private static let capacity = 4096

    /// Takes the token that an earlier process has kept as number 1; returns its age in milliseconds, or nil if there is none for this
    /// key that is young enough.
    func takeKept(at now: Moment, _ console: Console) -> UInt64? {
        guard let file else { return nil }
        do {
            let found = try unsafe withSecret(from: file, console, capacity: Self.capacity) { (text) in
                unsafe Self.kept(ContiguousArray(text), keyID: keyID, team: team)
            }
            guard let (token, time) = found, time <= now.wall, now.wall - time < TokenSchedule.renewal else {
                return nil
            }
            value = "bearer " + token
            generation = 1
            return now.wall - time
        } catch {
            // It is replaced.
            return nil
        }
    }

    /// Reads a token that was kept for this key; nil if there is none.
    static func kept(
        _ text: ContiguousArray<UInt8>, keyID: String, team: String
    ) -> (token: String, milliseconds: UInt64)? {
        guard let root = try? JSONDocument(parsing: text).root, root["key_id"]?.string == keyID,
            root["team"]?.string == team, let token = root["token"]?.string,
            let time = root["issued_at"]?.integer, ServerTime.range.contains(time)
        else { return nil }
        return (token, UInt64(time) * 1000)
    }

    private func keep(_ token: String, issuedAt time: UInt64, _ console: Console) {
        guard let file else { return }
        let json = jsonObject { json in
            json.string(keyID, for: "key_id")
            json.string(team, for: "team")
            json.integer(time, for: "issued_at")
            json.string(token, for: "token")
        }
        let text = json + [newline]
        do throws(Failure) {
            try OutputFile.write(text.span, to: file, mode: 0o600, force: true)
        } catch {
            console.warning("the provider token is not kept for the next process: \(error.message)")
        }
    }
}
