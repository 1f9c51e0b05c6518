import PushcryptKeyStore
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

    /// One for each way that a relay, a provider or a clock can bring about; `duplicate` alone needs a strict policy.
    static let all = notNotifications + notEnvelopes + notForThisPhone + notAuthentic + notTimely + notPayloads

    // MARK: Before any cryptography

    private static let notNotifications: [FailingPush] =
        [
            ("nothing", ""), ("white space", " \n"), ("no JSON", "hello"), ("an array", "[]"), ("a string", #""{}""#),
            ("one brace too few", #"{"aps":{"alert":{"title":"Bank"},"sound":"default"}"#),
            ("a name twice", #"{"aps":{},"aps":{}}"#),
            ("65,537 bytes", "{" + String(repeating: " ", count: (1 << 16) - 1) + "}"),
        ].map { name, text in FailingPush(.malformedNotification, name) { _ in Bytes(text.utf8) } } + [
            FailingPush(.malformedNotification, "no UTF-8") { _ in [0xff, 0xfe] }
        ]

    private static let notEnvelopes: [FailingPush] =
        [
            FailingPush(.notEncrypted, "no ENCRYPTED_DATA") { _ in Scene.push(value: nil) },
            FailingPush(.notEncrypted, "another case") { scene in
                let text = try scene.envelope().text
                return Bytes((Scene.clearPart + ",\"encrypted_data\":\"\(text)\"}").utf8)
            },
            FailingPush(.notEncrypted, "the envelope inside aps") { scene in
                let text = try scene.envelope().text
                return Bytes(#"{"aps":{"alert":{"title":"Bank"},"sound":"s","ENCRYPTED_DATA":"\#(text)"}}"#.utf8)
            },
        ]
        + ["null", "true", "7", "{}", #"["AQ"]"#].map { (value: String) in
            FailingPush(.notEncrypted, "ENCRYPTED_DATA is \(value)") { _ in Scene.push(value: value) }
        }
        + [
            FailingPush(.malformedEnvelope, "an empty text") { _ in Scene.push(value: #""""#) },
            FailingPush(.malformedEnvelope, "padding") { scene in
                Scene.push(value: "\"\(try scene.envelope().text)=\"")
            },
            FailingPush(.malformedEnvelope, "a newline at the end") { scene in
                Scene.push(value: "\"\(try scene.envelope().text)\\n\"")
            },
            FailingPush(.malformedEnvelope, "cut by three characters") { scene in
                Scene.push(value: "\"\(try scene.envelope().text.dropLast(3))\"")
            },
            FailingPush(.malformedEnvelope, "Apple's sample") { _ in
                Scene.push(value: #""Salted__·öîQÊ$UDì_¶Ù∞èΩ^¬%gq∞NÿÒQùw""#)
            },
            FailingPush(.unsupportedSuite, "suite 0x03") { scene in
                try changed(scene) { bytes in bytes[0] = 0x03 }
            },
        ]

    // MARK: Keys

    private static let notForThisPhone: [FailingPush] = [
        FailingPush(.unknownRecipientKey, "another phone's key") { scene in
            Scene.push(try scene.envelope(to: DeviceKey().publicKey))
        },
        FailingPush(.unknownRecipientKey, "a retired key, one millisecond after its end") { scene in
            try scene.phone.store.edit {
                try $0.confirm(grace: .seconds(3600), at: Scene.now.subtracting(milliseconds: 3_600_001))
            }
            return Scene.push(try scene.envelope(to: scene.activeKey))
        },
    ]

    private static let notAuthentic: [FailingPush] =
        [
            ("enc", 5), ("the epoch", 37), ("the signature", 41), ("the kind", 105), ("the certificate", 137),
            ("the padding", 1000), ("the tag", 1076),
        ].map { name, offset in
            FailingPush(.authenticationFailed, "a bit of \(name)") { scene in
                try changed(scene) { bytes in bytes[offset] ^= 0x01 }
            }
        } + [
            FailingPush(.authenticationFailed, "another app's topic") { scene in
                let other = try scene.provider.certified(epoch: 1, topic: .other)
                return Scene.push(try scene.envelope(by: EnvelopeSigner(other, for: .other), topic: .other))
            },
            FailingPush(.authenticationFailed, "a stranger") { scene in
                Scene.push(try scene.envelope(by: EnvelopeSigner(ProviderKey())))
            },
            FailingPush(.authenticationFailed, "a stranger with a certificate of his own") { scene in
                Scene.push(try scene.envelope(by: EnvelopeSigner(ProviderKey().certified(epoch: 1), for: .app)))
            },
            FailingPush(.authenticationFailed, "a stranger with the provider's certificate") { scene in
                Scene.push(
                    try scene.envelope(
                        by: EnvelopeSigner(
                            verified: scene.certificate, SigningKey(), by: scene.provider.publicKey, for: .app)))
            },
            FailingPush(.authenticationFailed, "sealed for the other key of this phone") { scene in
                var bytes = try scene.envelope(to: scene.activeKey).bytes
                let id = scene.pendingKey.id.value
                for index in 0..<4 { bytes[1 + index] = UInt8(truncatingIfNeeded: id >> UInt32(24 - 8 * index)) }
                return Scene.push(Envelope(sealed: bytes, .x25519))
            },
        ]

    // MARK: Authentic

    private static let notTimely: [FailingPush] = [
        FailingPush(.wrongPushClass, "a background push as an alert") { scene in
            Scene.push(try scene.envelope(as: .background))
        },
        FailingPush(.wrongPushClass, "a call as an alert, and late") { scene in
            Scene.push(try scene.envelope(as: .call, at: Scene.now.subtracting(milliseconds: 60_001)))
        },
        FailingPush(.unsupportedMessage, "a time to live of 0") { scene in
            Scene.push(try scene.envelope(timeToLive: 0))
        },
        FailingPush(.unsupportedMessage, "a time to live of 30 days and a second") { scene in
            Scene.push(try scene.envelope(timeToLive: 2_592_001))
        },
        FailingPush(.unsupportedMessage, "sent at 2^53") { scene in
            Scene.push(try scene.envelope(at: Timestamp(milliseconds: 1 << 53)))
        },
        FailingPush(.expired, "a millisecond late") { scene in
            Scene.push(try scene.envelope(at: Scene.now.subtracting(milliseconds: 60_001)))
        },
        FailingPush(.notYetValid, "a day and a millisecond early") { scene in
            Scene.push(try scene.envelope(at: Scene.now.plus(days: 1, milliseconds: 1)))
        },
    ]

    private static let notPayloads: [FailingPush] =
        [
            "", "[]", "{}", #"{"aps":[]}"#, #"{"aps":null}"#, #"{"aps":{}"#, #"{"aps":{},"aps":{}}"#,
            #"{"aps":{"alert":"\ud800"}}"#,
        ].map { payload in
            FailingPush(.malformedPayload, "the payload is '\(payload)'") { scene in
                Scene.push(try scene.envelope(payload))
            }
        }

    private static func changed(_ scene: Scene, _ change: (inout Bytes) -> Void) throws -> Bytes {
        var bytes = try scene.envelope().bytes
        change(&bytes)
        return Scene.push(Envelope(sealed: bytes, .x25519))
    }
}
