import Pushcrypt
import Testing

/// `Tests/Vectors/envelopes.json`.
struct EnvelopeVectors: Codable {
    struct TopicCase: FormatVector {
        let name: String
        let topic: String
        let valid: Bool
    }

    /// Who receives, and whom they trust.
    struct Receiver: Codable, Sendable {
        let topic: String
        let deviceSecrets: [Hex]
        let trust: FormatTrust

        var opener: Opener {
            get throws {
                Opener(
                    topic: try Topic(topic), deviceKeys: try deviceSecrets.map { try DeviceKey(scalar: $0.bytes.span) },
                    trust: try trust.trust)
            }
        }
    }

    /// `opened`, or the code of an error; another one fails to decode.
    enum Result: String, Codable {
        case opened
        case notEncrypted = "not-encrypted"
        case malformedEnvelope = "malformed-envelope"
        case unsupportedSuite = "unsupported-suite"
        case unknownRecipientKey = "unknown-recipient-key"
        case authenticationFailed = "authentication-failed"
        case rotationConflict = "rotation-conflict"
        case unsupportedMessage = "unsupported-message"
        case expired
        case notYetValid = "not-yet-valid"
        case malformedPayload = "malformed-payload"
    }

    /// What comes of opening; the payload and the trust are there when it opened.
    struct Expected {
        let result: Result
        let payload: String?
        let trustAfter: FormatTrust?
    }

    struct Open: FormatVector {
        let name: String
        let receiver: Receiver
        let now: UInt64
        let envelope: String
        let result: Result
        let payload: String?
        let trustAfter: FormatTrust?

        var expected: Expected { Expected(result: result, payload: payload, trustAfter: trustAfter) }
    }

    struct Received: FormatVector {
        let name: String
        let receiver: Receiver
        let now: UInt64
        let received: String
        let result: Result
        let payload: String?
        let trustAfter: FormatTrust?

        var expected: Expected { Expected(result: result, payload: payload, trustAfter: trustAfter) }
    }

    /// Every input of a seal, randomness included, and every byte that comes of it. It opens, too.
    struct Seal: FormatVector {
        let name: String
        let topic: String
        let deviceSecret: Hex
        let devicePublic: Hex
        let recipientKeyID: Hex
        let senderSeed: Hex
        let senderPublic: Hex
        let senderKeyID: Hex
        let sentAt: UInt64
        let ttl: UInt32
        let contentType: UInt8
        let statements: [Hex]
        let body: Hex
        let hedgeSignature: Hex?
        let hedgeKey: Hex
        let rMessageID: Hex?
        let callerID: String?
        let messageID: Hex
        let rEphemeral: Hex
        let contentHash: Hex
        let ikmE: Hex
        let enc: Hex
        let info: Hex
        let signed: Hex
        let signature: Hex
        let inner: Hex
        let receiver: Receiver
        let now: UInt64
        let envelope: String
        let result: Result
        let payload: String
        let trustAfter: FormatTrust

        /// What a receiver makes of it.
        var open: Open {
            Open(
                name: name, receiver: receiver, now: now, envelope: envelope, result: result, payload: payload,
                trustAfter: trustAfter)
        }
    }

    let topics: [TopicCase]
    let seal: [Seal]
    let received: [Received]
    let open: [Open]

    static func file() throws -> EnvelopeVectors { try FormatVectors.read("envelopes.json") }
}
