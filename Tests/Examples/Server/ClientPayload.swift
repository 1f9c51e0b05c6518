import Pushcrypt

/// The client's payload: its own `aps`, and the app's keys beside it.
struct ClientPayload: Encodable {
    struct APS: Encodable {
        struct Alert: Encodable {
            let title = "New message"
            let body = "(Encrypted)"
        }

        let alert = Alert()
        let mutableContent = 1
        let sound = "default"

        enum CodingKeys: String, CodingKey {
            case alert, sound
            case mutableContent = "mutable-content"
        }
    }

    let custom: SealedPayload.CustomKeys

    enum CodingKeys: String, CodingKey {
        case aps
    }

    func encode(to encoder: any Encoder) throws {
        try custom.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(APS(), forKey: .aps)
    }
}
