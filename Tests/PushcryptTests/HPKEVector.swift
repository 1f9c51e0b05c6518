import Foundation
import Testing

/// One of RFC 9180's own vectors, with its names and its order.
struct HPKEVector: Decodable {
    struct Encryption: Decodable {
        let aad: Hex
        let ct: Hex
        let nonce: Hex
        let pt: Hex
    }

    struct Export: Decodable {
        let context: Hex
        let length: Int
        let value: Hex

        private enum CodingKeys: String, CodingKey {
            case context = "exporter_context"
            case length = "L"
            case value = "exported_value"
        }
    }

    let mode: UInt8
    let kemID: Int
    let kdfID: Int
    let aeadID: Int
    let info: Hex
    let ikmR: Hex
    let ikmS: Hex?
    let ikmE: Hex
    let skRm: Hex
    let skSm: Hex?
    let skEm: Hex
    let psk: Hex?
    let pskID: Hex?
    let pkRm: Hex
    let pkSm: Hex?
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
        case mode
        case kemID = "kem_id"
        case kdfID = "kdf_id"
        case aeadID = "aead_id"
        case info, ikmR, ikmS, ikmE, skRm, skSm, skEm, psk
        case pskID = "psk_id"
        case pkRm, pkSm, pkEm, enc
        case sharedSecret = "shared_secret"
        case keyScheduleContext = "key_schedule_context"
        case secret, key
        case baseNonce = "base_nonce"
        case exporterSecret = "exporter_secret"
        case encryptions, exports
    }

    /// The vectors of the suite, or nil after saying that they were skipped.
    static func all() throws -> [HPKEVector]? {
        guard let file = try SharedVectors.file("hpke-x25519-sha256-chacha20poly1305.json") else { return nil }
        let vectors = try JSONDecoder().decode([HPKEVector].self, from: Data(file))
        for vector in vectors {
            try #require((vector.kemID, vector.kdfID, vector.aeadID) == (0x0020, 0x0001, 0x0003))
        }
        return vectors
    }
}
