import Foundation
import Testing

/// A vector with the names and the order of RFC 9180's own, which those of `Tests/Data/Vectors/hpke.json` have too.
struct HPKEVector: Codable, Sendable {
    struct Encryption: Codable {
        let aad: Hex
        let ct: Hex
        let nonce: Hex
        let pt: Hex
    }

    struct Export: Codable {
        let context: Hex
        let length: Int
        let value: Hex

        private enum CodingKeys: String, CodingKey {
            case context = "exporter_context"
            case length = "L"
            case value = "exported_value"
        }
    }

    /// The RFC's have none.
    let name: String?
    let mode: UInt8
    let kemID: Int
    let kdfID: Int
    let aeadID: Int
    let info: Hex
    let ikmR: Hex
    let ikmE: Hex
    let skRm: Hex
    let skEm: Hex
    let pkRm: Hex
    let pkEm: Hex
    let enc: Hex
    let sharedSecret: Hex
    let keyScheduleContext: Hex
    let secret: Hex
    let key: Hex
    let baseNonce: Hex
    let exporterSecret: Hex
    let encryptions: [Encryption]
    let exports: [Export]

    private enum CodingKeys: String, CodingKey {
        case name, mode
        case kemID = "kem_id"
        case kdfID = "kdf_id"
        case aeadID = "aead_id"
        case info, ikmR, ikmE, skRm, skEm, pkRm, pkEm, enc
        case sharedSecret = "shared_secret"
        case keyScheduleContext = "key_schedule_context"
        case secret, key
        case baseNonce = "base_nonce"
        case exporterSecret = "exporter_secret"
        case encryptions, exports
    }

    /// The RFC's vectors of the suite, or nil after saying that they were skipped.
    static func ofRFC9180() throws -> [HPKEVector]? {
        guard let file = try SharedVectors.file("hpke-x25519-sha256-chacha20poly1305.json") else { return nil }
        return try JSONDecoder().decode([HPKEVector].self, from: Data(file))
    }
}

extension HPKEVector: CustomTestStringConvertible {
    var testDescription: String { name ?? "mode \(mode)" }
}
