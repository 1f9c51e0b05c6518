/// The JSON around an envelope: everything that the relay can read. (`Docs/Format.md`, Clear part)
struct ClearPart: Sendable {
    /// What a message decides of it, besides the clear fields.
    struct Shape: Equatable {
        let pushType: PushType
        let hasSound: Bool
        let isContentAvailable: Bool
    }

    let shape: Shape

    /// Ends where the envelope's text begins.
    let prefix: ContiguousArray<UInt8>

    private let reencodedPrefixLength: Int

    /// Follows the envelope's text.
    static let suffix: StaticString = "\"}"

    /// Writes it, with the placeholder's clear fields as `aps` has them.
    init(_ shape: Shape, _ placeholder: Placeholder, _ aps: JSONValue?) {
        var json = JSONWriter()
        json.object { json in
            json.object(for: PayloadKeys.aps) { json in
                if shape.pushType == .alert { Self.writeAlert(shape, placeholder, aps, &json) }
                // The system wakes the app only for a clear one.
                if shape.isContentAvailable || shape.pushType == .background {
                    json.integer(1, for: "content-available")
                }
            }
        }
        // The object is reopened for the envelope, whose text needs no escapes.
        var bytes = json.bytes
        bytes.removeLast()
        bytes.append(",\"ENCRYPTED_DATA\":\"")
        self.shape = shape
        prefix = bytes
        reencodedPrefixLength = JSONText.maximumReencodedLength(of: bytes.span)
    }

    private static func writeAlert(
        _ shape: Shape, _ placeholder: Placeholder, _ aps: JSONValue?, _ json: inout JSONWriter
    ) {
        json.integer(1, for: "mutable-content")
        json.object(for: "alert") { json in
            json.string(placeholder.title, for: "title")
            json.string(Placeholder.body, for: "body")
        }
        switch placeholder.sound {
        case .matching where shape.hasSound: json.string("default", for: "sound")
        case .named(let name): json.string(name, for: "sound")
        case .matching, .silent: break
        }
        guard let aps, !placeholder.clearFields.isEmpty else { return }
        for (name, value) in aps.members {
            guard let field = Placeholder.ClearField(rawValue: name), placeholder.clearFields.contains(field) else {
                continue
            }
            json.raw(value, for: name)
        }
    }

    /// The length of the push with an envelope of this bucket, as the options measure it.
    func length(bucket: Int, isSentExactly: Bool) -> Int {
        // The envelope's characters are the same in every encoding. Two bytes close the string and the object.
        let text = Base64URL.encodedLength(Envelope.overhead + bucket)
        return (isSentExactly ? prefix.count : reencodedPrefixLength) + text + Self.suffix.utf8CodeUnitCount
    }

    func checkLength(bucket: Int, _ limit: PushLimit) throws(SealError) {
        try limit.check(
            length(bucket: bucket, isSentExactly: limit.isSentExactly),
            fix: "shorten the placeholder's title or keep fewer fields in the clear")
    }
}

/// The clear parts of one sealer's messages.
///
/// Unless fields of the payload stand in the clear, alerts have only four, and they are written once.
struct ClearParts: Sendable {
    private let placeholder: Placeholder
    private let ready: [ClearPart]

    init(_ placeholder: Placeholder) {
        self.placeholder = placeholder
        let shapes = [(false, false), (true, false), (false, true), (true, true)].map {
            ClearPart.Shape(pushType: .alert, hasSound: $0, isContentAvailable: $1)
        }
        ready = placeholder.clearFields.isEmpty ? shapes.map { ClearPart($0, placeholder, nil) } : []
    }

    func part(for payload: CheckedPayload, _ pushType: PushType) -> ClearPart {
        let shape = ClearPart.Shape(
            pushType: pushType, hasSound: payload.hasSound, isContentAvailable: payload.isContentAvailable)
        return ready.first { $0.shape == shape } ?? ClearPart(shape, placeholder, payload.aps)
    }
}
