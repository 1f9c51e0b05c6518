import Testing

@testable import Pushcrypt

/// A push that does not open, and the code that its developer gets.
struct FailingPush: Sendable, CustomTestStringConvertible {
    let code: OpenError.Code
    let testDescription: String
    let arrange: @Sendable (Scene) throws -> Bytes

    init(_ code: OpenError.Code, _ description: String, _ arrange: @escaping @Sendable (Scene) throws -> Bytes) {
        self.code = code
        testDescription = description
        self.arrange = arrange
    }

    /// Some of each code; the kit has all ways. `duplicate` alone needs a strict policy.
    static let all = notNotifications + notEnvelopes + notAuthentic + notTimely

    private static let notNotifications: [FailingPush] = [
        ("no JSON", "hello"), ("an array", "[]"), ("a name twice", #"{"aps":{},"aps":{}}"#),
        ("65,537 bytes", "{" + String(repeating: " ", count: (1 << 16) - 1) + "}"),
    ].map { name, text in FailingPush(.malformedNotification, name) { _ in Bytes(text.utf8) } }

    private static let notEnvelopes: [FailingPush] = [
        FailingPush(.notEncrypted, "no ENCRYPTED_DATA") { _ in Scene.push(value: nil) },
        FailingPush(.notEncrypted, "the envelope inside aps") { scene in
            let text = try scene.envelope().text
            return Bytes(#"{"aps":{"alert":{"title":"Bank"},"sound":"s","ENCRYPTED_DATA":"\#(text)"}}"#.utf8)
        },
        FailingPush(.notEncrypted, "ENCRYPTED_DATA is 7") { _ in Scene.push(value: "7") },
        FailingPush(.malformedEnvelope, "Apple's sample") { _ in
            Scene.push(value: #""Salted__·öîQÊ$UDì_¶Ù∞èΩ^¬%gq∞NÿÒQùw""#)
        },
        FailingPush(.unsupportedSuite, "suite 0x03") { scene in
            try changed(scene) { bytes in bytes[0] = 0x03 }
        },
    ]

    private static let notAuthentic: [FailingPush] = [
        FailingPush(.unknownRecipientKey, "another phone's key") { scene in
            Scene.push(try scene.envelope(to: DeviceKey().publicKey))
        },
        FailingPush(.authenticationFailed, "a bit of the tag") { scene in
            try changed(scene) { bytes in bytes[1076] ^= 0x01 }
        },
        FailingPush(.authenticationFailed, "a stranger with a certificate of his own") { scene in
            Scene.push(try scene.envelope(by: EnvelopeSigner(ProviderKey().certified(epoch: 1), for: .app)))
        },
    ]

    private static let notTimely: [FailingPush] = [
        FailingPush(.wrongPushClass, "a background push as an alert") { scene in
            Scene.push(try scene.envelope(as: .background))
        },
        FailingPush(.unsupportedMessage, "a time to live of 0") { scene in
            Scene.push(try scene.envelope(timeToLive: 0))
        },
        FailingPush(.expired, "a millisecond late") { scene in
            Scene.push(try scene.envelope(at: Scene.now.subtracting(milliseconds: 60_001)))
        },
        FailingPush(.notYetValid, "a day and a millisecond early") { scene in
            Scene.push(try scene.envelope(at: Scene.now.plus(days: 1, milliseconds: 1)))
        },
        FailingPush(.malformedPayload, "the payload is '{}'") { scene in Scene.push(try scene.envelope("{}")) },
    ]

    private static func changed(_ scene: Scene, _ change: (inout Bytes) -> Void) throws -> Bytes {
        var bytes = try scene.envelope().bytes
        change(&bytes)
        return Scene.push(Envelope(sealed: bytes, .x25519))
    }
}
