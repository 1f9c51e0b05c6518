/// The members of a reference's JSON, read one by one. Unknown ones are passed over, so that a later version may say more.
///
/// Errors name the member and never quote it.
package struct AttachmentFields {
    private let root: JSONValue

    init(_ root: JSONValue) throws(AttachmentError) {
        guard root.kind == .object else { throw Self.malformed("it is not a JSON object") }
        self.root = root
    }

    /// Parses an object; throws `malformedReference`.
    package init(_ json: ContiguousArray<UInt8>) throws(AttachmentError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(parsing: json)
        } catch {
            throw Self.malformed("it is not JSON: \(error)")
        }
        try self.init(document.root)
    }

    /// Whether the place of the file is known; it seldom is when the file is sealed.
    package var hasURL: Bool { root["url"].map { $0.kind != .null } ?? false }

    func text(_ name: String) throws(AttachmentError) -> String {
        guard let value = root[name], value.kind != .null else { throw Self.malformed("it has no \(name)") }
        guard let text = value.string else { throw Self.malformed("its \(name) is not a string") }
        return text
    }

    func bytes(_ name: String, count: Int) throws(AttachmentError) -> ContiguousArray<UInt8> {
        let text = ContiguousArray(try text(name).utf8)
        guard let bytes = Base64URL.decode(text.span), bytes.count == count else {
            throw Self.malformed("its \(name) is not base64url of \(count) bytes")
        }
        return bytes
    }

    func size() throws(AttachmentError) -> UInt64 {
        guard let value = root["size"], value.kind != .null else { throw Self.malformed("it has no size") }
        let sizes = AttachmentFormat.smallestSize...AttachmentFormat.largestSize
        guard let size = value.integer.flatMap(UInt64.init(exactly:)), sizes.contains(size) else {
            throw Self.malformed(
                "its size is not a whole number from \(sizes.lowerBound) on: it is the size of the sealed file")
        }
        return size
    }

    static func malformed(_ fault: String) -> AttachmentError {
        AttachmentError(.malformedReference, "the reference to an attachment cannot be used: \(fault)")
    }
}
