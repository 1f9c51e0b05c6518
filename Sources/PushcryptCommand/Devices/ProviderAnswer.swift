internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The answer of APNs to one push: `{"to","token","status","reason","timestamp"}`, with `to` or `device`.
struct ProviderAnswer {
    /// The reasons of status 410, and how a store records them.
    private static let reasons = ["Unregistered": "unregistered", "ExpiredToken": "expired-token"]
    private static let gone: Int64 = 410
    /// The earliest valid time: before push notifications existed, and greater than any time in seconds.
    private static let earliest: Int64 = 1_000_000_000_000

    /// The device that is gone, and when APNs noticed; nil for any other answer.
    let lost: LostDevice?

    init(_ line: ContiguousArray<UInt8>, at now: Timestamp) throws(CommandFailure) {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(parsing: line).root
        } catch {
            throw Self.malformed("it is not JSON: \(error)")
        }
        guard root.kind == .object else { throw Self.malformed("it is not an object") }
        if root["status"] == nil, root["error"] != nil {
            // APNs did not answer, as 'send' says.
            lost = nil
            return
        }
        guard let status = root["status"]?.integer else { throw Self.malformed("it has no 'status', a number") }
        guard status == Self.gone, let reason = Self.reasons[root["reason"]?.string ?? ""] else {
            lost = nil
            return
        }
        guard let id = (root["to"] ?? root["device"])?.string else {
            throw Self.malformed("it has no 'to', the device")
        }
        do throws(KeyStoreError) {
            try StoreName.check(id, "its 'to'")
        } catch {
            throw Self.malformed("\(error)")
        }
        guard let time = root["timestamp"]?.integer, time >= Self.earliest else {
            throw Self.malformed("it has no 'timestamp', the milliseconds that APNs gives with a 410")
        }
        let removedAt = Timestamp(milliseconds: UInt64(clamping: time))
        // A time in another unit would be later than anything the device does from now on.
        guard removedAt <= now.adding(Freshness.clockTolerance) else {
            throw Self.malformed("its 'timestamp' is more than a day ahead: pass on APNs' milliseconds since 1970")
        }
        lost = LostDevice(id: id, at: removedAt, reason: reason, token: root["token"]?.string?.lowercased())
    }

    private static func malformed(_ what: String) -> CommandFailure {
        .refused("\(LineError.Code.malformedLine): not a valid answer of APNs: \(what)")
    }
}
