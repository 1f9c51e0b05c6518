/// The JSON around an envelope: everything that the relay can read. (`Docs/Format.md`, Clear part)
struct ClearPart {
    /// Ends where the envelope's text begins.
    let prefix: ContiguousArray<UInt8>

    /// Follows the envelope's text.
    static let suffix: StaticString = "\"}"

    init(_ payload: CheckedPayload, _ placeholder: Placeholder, _ pushType: PushType) {
        var json = JSONWriter()
        json.object { json in
            json.object(for: "aps") { json in
                if pushType == .alert { Self.writeAlert(payload, placeholder, &json) }
                // The system wakes the app only for a clear one.
                if payload.isContentAvailable || pushType == .background { json.integer(1, for: "content-available") }
            }
        }
        // The object is reopened for the envelope, whose text needs no escapes.
        var bytes = json.bytes
        bytes.removeLast()
        bytes.append(",\"ENCRYPTED_DATA\":\"")
        prefix = bytes
    }

    private static func writeAlert(_ payload: CheckedPayload, _ placeholder: Placeholder, _ json: inout JSONWriter) {
        json.integer(1, for: "mutable-content")
        json.object(for: "alert") { json in
            json.string(placeholder.title, for: "title")
            json.string(Placeholder.body, for: "body")
        }
        switch placeholder.sound {
        case .matching where payload.hasSound: json.string("default", for: "sound")
        case .named(let name): json.string(name, for: "sound")
        case .matching, .silent: break
        }
        guard !placeholder.clearFields.isEmpty else { return }
        for (name, value) in payload.aps.members {
            guard let field = Placeholder.ClearField(rawValue: name), placeholder.clearFields.contains(field) else {
                continue
            }
            json.raw(value, for: name)
        }
    }

    /// The length of the push with an envelope of this bucket, as the options measure it.
    func length(bucket: Int, exact: Bool) -> Int {
        // The envelope's characters are the same in every encoding. Two bytes close the string and the object.
        let text = Base64URL.encodedLength(Envelope.overhead + bucket)
        return (exact ? prefix.count : WidestLength.of(prefix.span)) + text + Self.suffix.utf8CodeUnitCount
    }

    func checkLength(bucket: Int, _ options: Sealer.Options) throws(SealError) {
        let limit = options.pushType.maximumPushLength
        let length = length(bucket: bucket, exact: options.isSentExactly)
        guard length > limit else { return }
        throw SealError(
            .pushTooLarge,
            "the push would have \(length) bytes\(options.isSentExactly ? "" : " in the widest form a client may send"), \(length - limit) more than Apple takes (\(limit)); shorten the placeholder's title or keep fewer fields in the clear"
        )
    }
}
