/// The attachments of one payload, under the reserved key. (`Docs/FormatFiles.md`)
///
///     {"aps":{…},"pushcrypt":{"attachments":[{"url":…},…]}}
struct AttachmentList {
    private static let key = "attachments"

    /// The valid references.
    private(set) var accepted: [AttachmentReference] = []
    /// The errors of the invalid ones, each of which is dropped alone.
    private(set) var dropped: [AttachmentError] = []

    /// Reads the attachments of an opened payload.
    init(of payload: JSONValue) {
        guard let reserved = payload[PayloadKeys.reserved], reserved.kind != .null else { return }
        guard reserved.kind == .object else {
            dropped = [AttachmentFields.malformed("\(PayloadKeys.reserved) is not a JSON object")]
            return
        }
        guard let list = reserved[Self.key], list.kind != .null else { return }
        guard list.kind == .array else {
            dropped = [AttachmentFields.malformed("\(Self.key) is not an array")]
            return
        }
        let elements = list.elements
        for (index, element) in elements.prefix(AttachmentReference.maximumCount).enumerated() {
            do throws(AttachmentError) {
                accepted.append(try AttachmentReference(AttachmentFields(element)))
            } catch {
                dropped.append(AttachmentError(error.code, "attachment \(index + 1): \(error)"))
            }
        }
        if elements.count > AttachmentReference.maximumCount {
            dropped.append(
                AttachmentError(
                    .tooMany,
                    "the notification has \(elements.count) attachments; only the first \(AttachmentReference.maximumCount) are used"
                ))
        }
    }

    /// Writes the references, if there are any.
    static func write(_ references: [AttachmentReference], to json: inout JSONWriter) {
        guard !references.isEmpty else { return }
        json.array(for: key) { json in for reference in references { reference.write(to: &json) } }
    }
}
