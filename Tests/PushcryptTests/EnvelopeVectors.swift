import Pushcrypt
import Testing
import VectorKit

/// `Tests/Data/Vectors/envelopes.json`.
struct EnvelopeVectors: Codable {
    /// Every input of a seal, randomness included, and every byte that comes of it.
    struct Seal: FormatVector {
        let name: String
        let topic: String
        let pushType: String
        let title: String
        /// Nil for the sound that fits the payload, empty for none.
        let clearSound: String?
        let kept: [String]?
        let deviceSecret: Hex
        let devicePublic: Hex
        let recipientKeyID: Hex
        let providerSeed: Hex
        let providerPublic: Hex
        let epoch: UInt32
        /// The key of an epoch of 1 or more, and its certificate.
        let signingSeed: Hex?
        let signingPublic: Hex?
        let certificate: Hex?
        let sentAt: UInt64
        /// The sealed one, in seconds.
        let ttl: UInt32
        let kind: UInt8
        let body: Hex
        let hedgeKey: Hex
        let rMessageID: Hex?
        let callerID: String?
        let messageID: Hex
        let rEphemeral: Hex
        let contentHash: Hex
        let ikmE: Hex
        let skE: Hex
        let enc: Hex
        let info: Hex
        let signed: Hex
        let signature: Hex
        let inner: Hex
        let payload: String
        let envelope: Hex
        /// The push without the envelope.
        let clear: String
        let push: String
        let length: Int
        let widestLength: Int
        let device: String?
        let collapseName: String?
        let collapseID: String
        /// The name of the kit's test that has the envelope, and what opening it gives.
        let test: String

        /// The envelope as the kit has it.
        var text: String {
            get throws { try #require(EnvelopeVectors.texts.get()["envelopes/\(test)"]) }
        }
    }

    let seal: [Seal]

    /// The kit's envelopes by path.
    private static let texts = Result {
        let vectors = try KitGroup.envelopes.vectors()
        return Dictionary(uniqueKeysWithValues: try vectors.map { ($0.path, try $0.text) })
    }

    static func file() throws -> EnvelopeVectors { try FormatVectors.read("envelopes.json") }
}
