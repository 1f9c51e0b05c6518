import Foundation
import Pushcrypt
import PushcryptKeyStore

@testable import PushcryptService

/// A publisher's relay by `Docs/Relay.md`, as far as a phone sees it: a value.
struct ModelRelay {
    struct Grant: Hashable {
        let text, token, pushKey: String
        let kinds: [String]
        var isLive = true
    }

    static let origin = "https://relay.example.com"
    /// What it answers instead of working.
    var refusal: WebAnswer?
    var end = Timestamp(milliseconds: 1_767_225_600_000).adding(.days(180))
    private(set) var issued: [Grant] = []
    private(set) var requests: [(path: String, body: [String: Any])] = []

    static func answer(
        _ status: Int, _ json: String, retryAfter: String? = nil
    ) -> WebAnswer { WebAnswer(status: status, retryAfter: retryAfter, body: ContiguousArray(json.utf8)) }

    func isLive(_ grant: String?) -> Bool { issued.contains { $0.text == grant && $0.isLive } }

    /// The grants of a token that still push.
    func live(_ token: String) -> Set<String> { Set(issued.filter { $0.isLive && $0.token == token }.map(\.text)) }

    mutating func answer(_ request: WebRequest) throws -> WebAnswer {
        guard request.url.hasPrefix(Self.origin + "/v1/"),
            let body = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any],
            let token = body["token"] as? String, body["environment"] as? String == "production",
            body["topic"] as? String == "com.example.app"
        else { return Self.answer(400, #"{"code":"malformed-request"}"#) }
        let path = String(request.url.dropFirst(Self.origin.count))
        requests.append((path, body))
        if let refusal { return refusal }
        switch path {
        case "/v1/grants":
            guard let pushKey = body["push_key"] as? String, let kinds = body["kinds"] as? [String], body.count == 5
            else {
                return Self.answer(400, #"{"code":"malformed-request"}"#)
            }
            let text = Sodium.randomBytes(16).hex
            issued.append(Grant(text: text, token: token, pushKey: pushKey, kinds: kinds))
            return Self.answer(200, #"{"grant":"\#(text)","expires":\#(end.milliseconds)}"#)
        case "/v1/revoke":
            guard let grant = body["grant"] as? String else {
                for index in issued.indices where issued[index].token == token { issued[index].isLive = false }
                return Self.answer(200, "{}")
            }
            guard let index = issued.firstIndex(where: { $0.text == grant }) else {
                return Self.answer(400, #"{"code":"malformed-grant"}"#)
            }
            guard issued[index].token == token else { return Self.answer(403, #"{"code":"wrong-token"}"#) }
            issued[index].isLive = false
            return Self.answer(200, "{}")
        default: return Self.answer(404, #"{"code":"not-found"}"#)
        }
    }
}
