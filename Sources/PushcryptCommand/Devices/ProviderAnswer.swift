internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The answer of APNs to one push: `{"to","token","status","reason","timestamp"}`, with `to` or `device`; through a relay also
/// `grant`. Other clients' forms are read beside `to`: aioapns has `description`, node-apn `response`, and the token in `device`.
struct ProviderAnswer {
    /// The reasons of status 410, the second with any status, and how a store records them.
    private static let reasons = ["Unregistered": "unregistered", "ExpiredToken": "expired-token"]
    /// The reasons of status 410 with which a relay says that the grant has ended.
    private static let grantReasons: Set = ["grant-expired", "grant-revoked", "grant-unknown-key"]
    private static let gone: Int64 = 410
    /// The earliest valid time: before push notifications existed, and greater than any time in seconds.
    private static let earliest: Int64 = 1_000_000_000_000

    /// What an answer says to be gone.
    enum Loss {
        /// The device, and when APNs noticed.
        case device(LostDevice)
        case grant(EndedGrant)
    }

    /// Nil for any other answer.
    let lost: Loss?

    init(_ line: ContiguousArray<UInt8>) throws {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(parsing: line).root
        } catch {
            throw Self.malformed("it is not JSON: \(error)")
        }
        guard root.kind == .object else { throw Self.malformed("it is not an object") }
        if root["status"] == nil, let error = root["error"] {
            guard error["code"]?.string != nil else {
                throw Self.malformed("its 'error' is not one of 'pushcrypt send'")
            }
            // APNs did not answer, as 'send' says.
            lost = nil
            return
        }
        let number = root["status"]
        guard let status = number?.integer ?? number?.string.flatMap({ Int64($0) }) else {
            throw Self.malformed("it has no 'status', a number")
        }
        let response = root["response"]
        let word = (root["reason"] ?? root["description"] ?? response?["reason"])?.string ?? ""
        let reason = status == Self.gone || word == "ExpiredToken" ? Self.reasons[word] : nil
        guard reason != nil || status == Self.gone && Self.grantReasons.contains(word) else {
            // APNs may have new reasons: what it means for the device is for its operator to say.
            guard status != Self.gone else { throw Self.malformed("status 410 has the unknown reason \(quoted(word))") }
            lost = nil
            return
        }
        guard let id = (root["to"] ?? (response == nil ? root["device"] : nil))?.string else {
            throw Self.malformed("it has no 'to', the device")
        }
        do throws(KeyStoreError) {
            try StoreName.check(id, "its 'to'")
        } catch {
            throw Self.malformed("\(error)")
        }
        let grant = root[PushAddress.grantName]?.string
        guard let reason else {
            guard let grant else { throw Self.malformed("it has no 'grant', the one that has ended") }
            lost = .grant(EndedGrant(id: id, grant: grant))
            return
        }
        guard let time = (root["timestamp"] ?? response?["timestamp"])?.integer, time >= Self.earliest else {
            throw Self.malformed("it has no 'timestamp', the milliseconds that APNs gives with a 410")
        }
        let removedAt = Timestamp(milliseconds: UInt64(clamping: time))
        // A time in another unit would be later than anything the device does from now on.
        guard removedAt <= .latestOfAClock else {
            throw Self.malformed("its 'timestamp' is after 2100: pass on APNs' milliseconds since 1970")
        }
        let token = (root["token"] ?? (response == nil ? nil : root["device"]))?.string?.lowercased()
        lost = .device(LostDevice(id: id, at: removedAt, reason: reason, token: token, grant: grant))
    }

    private static func malformed(_ what: String) -> Failure {
        .refused("\(LineCode.malformedLine): not a valid answer of APNs: \(what)")
    }
}
