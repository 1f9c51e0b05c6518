import Foundation
import Pushcrypt
import PushcryptKeyStore

@testable import PushcryptService

/// A publisher's relay by `Docs/Relay.md`, as far as a phone sees it: a value.
struct ModelRelay {
    struct Grant: Hashable {
        let text, secret, token, pushKey: String
        let kinds: [String]
        var isLive = true
        /// Whether the relay still has the key that sealed it.
        var isKnown = true
    }

    static let origin = "https://relay.example.com"
    /// The answers at paths, instead of work.
    var refusals: [String: WebAnswer] = [:]
    var end = Timestamp(milliseconds: 1_767_225_600_000).adding(.days(180))
    private(set) var issued: [Grant] = []
    /// The answers that phones have left, in order.
    private(set) var left: [(pushKey: String, text: String)] = []
    private(set) var requests: [(path: String, body: [String: Any])] = []

    static func answer(
        _ status: Int, _ json: String, retryAfter: String? = nil
    ) -> WebAnswer { WebAnswer(status: status, retryAfter: retryAfter, body: ContiguousArray(json.utf8)) }

    private static func refusal(_ status: Int, _ code: String) -> WebAnswer { answer(status, #"{"code":"\#(code)"}"#) }

    func isLive(_ grant: String?) -> Bool { issued.contains { $0.text == grant && $0.isLive } }

    /// Removes the key for grants: those that it has sealed have ended.
    mutating func removeKey() {
        for index in issued.indices { (issued[index].isLive, issued[index].isKnown) = (false, false) }
    }

    @discardableResult
    mutating func issue(_ token: String, _ pushKey: String, _ kinds: [String] = ["alert"]) -> Grant {
        let grant = Grant(
            text: Sodium.randomBytes(16).hex, secret: Base64URL.string(Sodium.randomBytes(16).span), token: token,
            pushKey: pushKey, kinds: kinds)
        issued.append(grant)
        return grant
    }

    mutating func answer(_ request: WebRequest) -> WebAnswer {
        let malformed = Self.refusal(400, "malformed-request")
        guard request.url.hasPrefix(Self.origin + "/v1/"),
            let body = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
        else { return malformed }
        let path = String(request.url.dropFirst(Self.origin.count))
        requests.append((path, body))
        if let refusal = refusals[path] { return refusal }
        switch path {
        case "/v1/grants":
            guard let token = body["token"] as? String, body["environment"] as? String == "production",
                body["topic"] as? String == "com.example.app", let pushKey = body["push_key"] as? String,
                let kinds = body["kinds"] as? [String], body.count == 5
            else { return malformed }
            let grant = issue(token, pushKey, kinds)
            return Self.answer(
                200, #"{"grant":"\#(grant.text)","secret":"\#(grant.secret)","expires":\#(end.milliseconds)}"#)
        case "/v1/revoke":
            guard let text = body["grant"] as? String, let secret = body["secret"] as? String,
                body.count == (body["all"] as? Bool == true ? 3 : 2)
            else { return malformed }
            guard let index = issued.firstIndex(where: { $0.text == text }) else {
                return Self.refusal(400, "malformed-grant")
            }
            let grant = issued[index]
            guard grant.isKnown else { return Self.refusal(410, "grant-unknown-key") }
            guard grant.secret == secret else { return Self.refusal(403, "wrong-secret") }
            for other in issued.indices where other == index || body.count == 3 && issued[other].token == grant.token {
                issued[other].isLive = false
            }
            return Self.answer(200, "{}")
        case "/v1/answers":
            guard let text = body["answer"] as? String, let secret = body["secret"] as? String, body.count == 3,
                let grant = issued.first(where: { $0.text == body["grant"] as? String })
            else { return malformed }
            guard grant.isLive else { return Self.refusal(410, "grant-revoked") }
            guard grant.secret == secret else { return Self.refusal(403, "wrong-secret") }
            left.append((grant.pushKey, text))
            return Self.answer(200, "{}")
        default: return Self.refusal(404, "not-found")
        }
    }
}
