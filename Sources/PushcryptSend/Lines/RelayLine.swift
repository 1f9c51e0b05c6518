internal import Pushcrypt
internal import PushcryptCommand
internal import PushcryptCommandKit

// Lines for a relay, which `seal --emit relay` writes.

extension SendLine.Form {
    /// What `send --relay` reads: a message of Docs/Relay.md beside recipient and name. Other members are not the relay's.
    static let relay = SendLine.Form(
        names: ["grant", "data"] + relayHeaders, headers: relayHeaders, back: ["grant"],
        answers: ["grant_expires"], hasPayload: { $0.value("data") != nil }, message: relayMessage)

    private static let relayHeaders = [
        "kind", "priority", "expiration", "collapse_id", "sound", "content_available",
    ]

    /// Whether the members are what a relay takes is for the relay to say, message by message.
    private static func relayMessage(_ line: BatchLine) throws(LineFailure) -> PushToSend {
        guard let data = try line.text("data"), !data.isEmpty else {
            throw LineFailure(.notSealed, "the line has no data: seal with --emit relay")
        }
        guard let grant = try line.text("grant") else {
            throw LineFailure(
                .malformedLine,
                "the line has no grant: the phone's record brings it, 'device add' keeps it, and 'seal --emit relay' writes it"
            )
        }
        for name in relayHeaders {
            guard let value = line.value(name), value.kind == .object || value.kind == .array else { continue }
            throw LineFailure(.malformedLine, "\(name) must be a string, a number, true or false")
        }
        var json = JSONWriter()
        let present = (["grant"] + relayHeaders + ["data"]).filter { line.value($0) != nil }
        json.object { json in line.write(present, to: &json) }
        var push = PushToSend(deviceToken: grant, payload: json.bytes)
        push.expiration = try line.number("expiration") ?? 0
        return push
    }
}
