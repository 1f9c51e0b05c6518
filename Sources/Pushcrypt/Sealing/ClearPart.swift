/// The JSON around an envelope: everything that the relay can read. (`Docs/Format.md`, Clear part)
struct ClearPart: Sendable {
    /// The properties of a message that determine the clear part, besides the clear fields.
    struct Shape: Equatable {
        let pushType: PushType
        let hasSound: Bool
        let isContentAvailable: Bool
    }

    let shape: Shape

    /// The JSON up to the envelope's text.
    let prefix: ContiguousArray<UInt8>

    private let reencodedPrefixLength: Int

    /// The JSON after the envelope's text.
    static let suffix: StaticString = "\"}"

    /// Writes the clear part, with the values of the placeholder's clear fields from `aps`.
    init(_ shape: Shape, _ placeholder: Placeholder, _ aps: JSONValue?) {
        var json = JSONWriter()
        json.object { json in
            json.object(for: PayloadKeys.aps) { json in
                if shape.pushType == .alert { Self.writeAlert(shape, placeholder, aps, &json) }
                // The system wakes the app only if this is in the clear.
                if shape.isContentAvailable || shape.pushType == .background {
                    json.integer(1, for: "content-available")
                }
            }
        }
        // Reopens the object for the envelope, whose text needs no escapes.
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
        for (name, value) in aps.members where value.kind != .null {
            guard let field = Placeholder.ClearField(rawValue: name), placeholder.clearFields.contains(field) else {
                continue
            }
            json.raw(value, for: name)
        }
    }

    /// Returns the length of the push with an envelope of this bucket: the exact length, or that of the longest
    /// re-encoding.
    func length(bucket: Int, _ suite: CipherSuite, isSentExactly: Bool) -> Int {
        // The envelope's text is the same in every encoding. Two bytes close the string and the object.
        let text = Base64URL.encodedLength(Envelope.overhead(suite) + bucket)
        return (isSentExactly ? prefix.count : reencodedPrefixLength) + text + Self.suffix.utf8CodeUnitCount
    }

    func checkLength(bucket: Int, _ limit: PushLimit) throws(SealError) {
        try limit.check(
            length(bucket: bucket, limit.suite, isSentExactly: limit.isSentExactly),
            fix: "shorten the placeholder's title or keep fewer fields in the clear")
    }
}

/// The clear parts for the messages of one sealer.
///
/// Unless fields of the payload are in the clear, there are only four for alerts, which are written once.
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
