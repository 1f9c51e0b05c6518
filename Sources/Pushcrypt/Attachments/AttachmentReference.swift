/// A reference to an attachment, inside a sealed payload: its url, its key, its type and its name.
///
///     {"url":"https://…","key":"…","size":46,"sha256":"…","type":"public.jpeg","name":"photo.jpg"}
///
/// Every value has passed the rules. It contains a secret: its JSON is only for sealed payloads and for files that only
/// their owner can read. Printing it shows no key. (`Docs/FormatFiles.md`)
public struct AttachmentReference: Sendable {
    /// The maximum number of references in one notification.
    package static let maximumCount = 8
    /// The maximum length of a name and of a type in bytes of UTF-8.
    package static let maximumNameLength = 255

    /// The url of the sealed file: `https`, and not to be redirected to anything else or to another host.
    public let url: String
    /// The key, the size and the hash of the sealed file.
    public let file: SealedFile
    /// The type of the plain file: a uniform type identifier such as `public.jpeg`.
    public let type: String
    /// The name of the plain file: one path component, neither `.` nor `..`.
    public let name: String

    /// Creates a reference to a sealed and stored file.
    ///
    /// - Throws: `malformedReference`.
    public init(url: String, file: SealedFile, type: String, name: String) throws(AttachmentError) {
        try AttachmentRules.check(url: url)
        try AttachmentRules.check(type: type)
        try AttachmentRules.check(name: name)
        self.url = url
        self.file = file
        self.type = type
        self.name = name
    }
}

// MARK: Text form

extension AttachmentReference {
    /// Parses a reference.
    ///
    /// - Throws: `malformedReference`.
    public init(json: ContiguousArray<UInt8>) throws(AttachmentError) {
        try self.init(AttachmentFields(json))
    }

    /// Reads a reference; `url` is for a reference that was written before its url was known.
    package init(_ fields: AttachmentFields, url: String? = nil) throws(AttachmentError) {
        let url = if let url { url } else { try fields.text("url") }
        try self.init(
            url: url, file: SealedFile(fields), type: fields.text("type"),
            name: fields.text("name"))
    }

    /// The reference as minified JSON, including the key: a secret, which the caller protects.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        write(to: &json)
        return json.bytes
    }

    /// Writes the reference as an object; without the key, it may be shown.
    package func write(to json: inout JSONWriter, for member: String? = nil, includingKey: Bool = true) {
        Self.write(url: url, file, type: type, name: name, to: &json, for: member, includingKey: includingKey)
    }

    /// Writes a reference as an object, without a url if it is not known yet.
    package static func write(
        url: String?, _ file: SealedFile, type: String, name: String, to json: inout JSONWriter,
        for member: String? = nil, includingKey: Bool = true
    ) {
        json.object(for: member) { json in
            if let url { json.string(url, for: "url") }
            file.write(to: &json, includingKey: includingKey)
            json.string(type, for: "type")
            json.string(name, for: "name")
        }
    }
}

extension AttachmentReference: CustomStringConvertible, CustomReflectable {
    /// The type and the size, without the key, the name and the url.
    public var description: String { "AttachmentReference(\(type), \(file.size) bytes)" }

    /// The type and the file.
    public var customMirror: Mirror { Mirror(self, children: ["type": type, "file": file]) }
}

/// The rules for the members of a reference. (`Docs/FormatFiles.md`, rules)
package enum AttachmentRules {
    private static let scheme = "https://"

    /// The characters that a url may have after its host, besides letters, digits and %HH.
    private static let punctuation = "-._~!$&'()*+,;=:@/?"

    package static func check(url: String) throws(AttachmentError) {
        let rest = url.utf8.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let host = authority.prefix { $0 != UInt8(ascii: ":") }
        guard url.utf8.starts(with: scheme.utf8), isHost(host), isPort(authority.dropFirst(host.count)),
            isEscaped(rest.dropFirst(authority.count))
        else {
            throw AttachmentFields.malformed(
                "its url must be https:// with a host, in the characters of RFC 3986, without user name and fragment")
        }
    }

    /// Whether this is a name whose last label begins with a letter, or an IPv4 address.
    private static func isHost(_ host: Substring.UTF8View) -> Bool {
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard host.count <= 253, labels.allSatisfy(isLabel), let first = labels.last?.first else { return false }
        guard !first.isDigit else { return labels.count == 4 && labels.allSatisfy(isOctet) }
        return first.isLetterOrDigit
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        (1...63).contains(label.count)
            && label.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }

    /// Whether this is a number of 0 to 255 without leading zeros.
    private static func isOctet(_ label: Substring.UTF8View) -> Bool {
        label.allSatisfy(\.isDigit) && UInt8(Substring(label)).map { String($0).utf8.elementsEqual(label) } ?? false
    }

    /// Whether this is a colon with 1 to 5 digits, at most 65535, or nothing.
    private static func isPort(_ text: Substring.UTF8View) -> Bool {
        let digits = text.dropFirst()
        return text.isEmpty
            || (1...5).contains(digits.count) && digits.allSatisfy(\.isDigit) && UInt16(Substring(digits)) != nil
    }

    /// Whether every character is a letter, a digit, in `punctuation`, or part of %HH.
    private static func isEscaped(_ text: Substring.UTF8View) -> Bool {
        var digitsToCome = 0
        for byte in text {
            if digitsToCome > 0 {
                guard Character(UnicodeScalar(byte)).isHexDigit else { return false }
                digitsToCome -= 1
            } else if byte == UInt8(ascii: "%") {
                digitsToCome = 2
            } else if !byte.isLetterOrDigit, !punctuation.utf8.contains(byte) {
                return false
            }
        }
        return digitsToCome == 0
    }

    package static func check(type: String) throws(AttachmentError) {
        let labels = type.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isIdentifier =
            labels.count > 1
            && labels.allSatisfy { label in
                !label.isEmpty && label.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
            }
        guard isIdentifier, type.utf8.count <= AttachmentReference.maximumNameLength else {
            throw AttachmentFields.malformed(
                "its type must be a uniform type identifier such as public.jpeg, not a media type such as image/jpeg"
            )
        }
    }

    package static func check(name: String) throws(AttachmentError) {
        guard (1...AttachmentReference.maximumNameLength).contains(name.utf8.count), name != ".", name != ".." else {
            throw AttachmentFields.malformed(
                "its name must have 1 to \(AttachmentReference.maximumNameLength) bytes, and must not be . or ..")
        }
        guard name.unicodeScalars.allSatisfy({ $0 != "/" && !$0.isControl }) else {
            throw AttachmentFields.malformed("its name has a slash or a control character")
        }
    }
}

/// The members of a reference's JSON. Unknown members are ignored, so that a later version may add some.
///
/// Errors name the member, and never quote its value.
package struct AttachmentFields {
    private let root: JSONValue

    init(_ root: JSONValue) throws(AttachmentError) {
        guard root.kind == .object else { throw Self.malformed("it is not a JSON object") }
        self.root = root
    }

    /// Parses a JSON object; throws `malformedReference`.
    package init(_ json: ContiguousArray<UInt8>) throws(AttachmentError) {
        let document: JSONDocument
        do throws(JSONError) {
            document = try JSONDocument(parsing: json)
        } catch {
            throw Self.malformed("it is not JSON: \(error)")
        }
        try self.init(document.root)
    }

    /// Whether the url is known; it often is not yet when the file is sealed.
    package var hasURL: Bool { root["url"].map { $0.kind != .null } ?? false }

    func text(_ name: String) throws(AttachmentError) -> String {
        guard let value = root[name], value.kind != .null else { throw Self.malformed("it has no \(name)") }
        guard let text = value.string else { throw Self.malformed("its \(name) is not a string") }
        return text
    }

    func bytes(_ name: String, count: Int) throws(AttachmentError) -> ContiguousArray<UInt8> {
        let text = ContiguousArray(try text(name).utf8)
        // It may be the key.
        guard
            let bytes = SecretBase64.unpaddedURL.decode(text.span)?.withSpan({ ContiguousArray(copying: $0) }),
            bytes.count == count
        else { throw Self.malformed("its \(name) is not base64url of \(count) bytes") }
        return bytes
    }

    func size() throws(AttachmentError) -> UInt64 {
        guard let value = root["size"], value.kind != .null else { throw Self.malformed("it has no size") }
        guard let size = value.integer.flatMap(UInt64.init(exactly:)), AttachmentFormat.isSize(size) else {
            throw Self.malformed("its size is not a number of bytes that a sealed file can have")
        }
        return size
    }

    static func malformed(_ fault: String) -> AttachmentError {
        AttachmentError(.malformedReference, "the reference to an attachment cannot be used: \(fault)")
    }
}
