import Testing

@testable import Pushcrypt

/// References as values: what is written, what is printed, what an error says. The rules are in `AttachmentVectorTests`.
@Suite struct AttachmentReferenceTests {
    private static let key = Bytes(hex: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")

    static func reference(
        url: String = "https://files.example.com/7f3a", type: String = "public.jpeg", name: String = "photo.jpg"
    ) throws(AttachmentError) -> AttachmentReference {
        let hash = Bytes(repeating: 0, count: 32)
        return try AttachmentReference(
            url: url, file: SealedFile(key: Ephemeral(copying: key.span), size: 1234, sha256: hash), type: type,
            name: name)
    }

    @Test func theJSONIsTheOneOfTheFormat() throws {
        let json = try String(decoding: Self.reference(name: #"a "b".jpg"#).json, as: UTF8.self)
        #expect(
            json == #"{"url":"https://files.example.com/7f3a","key":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","#
                + #""size":1234,"sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","type":"public.jpeg","name":"a \"b\".jpg"}"#
        )
    }

    @Test(arguments: [
        (#""url":"https://a.example/1","#, true), (#""url":null,"#, false), ("", false), (#""url":1,"#, true),
    ])
    func thePlaceOfAFileMayBeUnknownStill(_ member: String, _ isKnown: Bool) throws {
        #expect(try AttachmentFields(Bytes("{\(member)\"name\":\"a.jpg\"}".utf8)).hasURL == isKnown)
    }

    /// To open a file that is at hand, its place and its name do not matter.
    @Test func aSealedFileIsReadFromThreeMembers() throws {
        let whole = try Self.reference().json
        let file = try SealedFile(json: whole)
        #expect(file.size == 1234)
        #expect(file.withKey { Bytes(copying: $0) } == Self.key)
        let json =
            #"{"key":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","size":46,"sha256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","url":"x"}"#
        #expect(try SealedFile(json: Bytes(json.utf8)).size == 46)
        #expect(throws: AttachmentError.self) { try AttachmentReference(json: Bytes(json.utf8)) }
    }

    @Test(arguments: [
        ("{zebra", "not JSON"), ("[]", "not a JSON object"), ("{}", "no url"),
        (#"{"url":"https://zebra/","size":20}"#, "size"), (#"{"url":7}"#, "url is not a string"),
        (#"{"url":"https://zebra/","size":46,"sha256":"zebra"}"#, "sha256 is not base64url of 32 bytes"),
    ])
    func anErrorNamesTheMemberAndNothingOfIt(_ json: String, _ part: String) throws {
        let error = try #require(
            #expect(throws: AttachmentError.self) { try AttachmentReference(json: Bytes(json.utf8)) })
        #expect(error.code == .malformedReference)
        #expect(error.description.contains(part), "\(error)")
        #expect(!error.description.contains("zebra"))
    }

    private static let url = "https://files.example.com/zebra"

    @Test(arguments: [
        ("http://zebra/a", "public.jpeg", "a", "url must be https"), (url, "image/zebra", "a", "such as public.jpeg"),
        (url, "public.jpeg", "../zebra", "slash"), (url, "public.jpeg", "", "1 to 255 bytes"),
    ])
    func aReferenceIsCheckedWhenItIsMade(_ url: String, _ type: String, _ name: String, _ part: String) throws {
        let error = try #require(
            #expect(throws: AttachmentError.self) { try Self.reference(url: url, type: type, name: name) })
        #expect(error.description.contains(part), "\(error)")
        #expect(!error.description.contains("zebra"))
    }

    /// Every way that Swift has to print a value.
    @Test func noPrintingShowsTheKey() throws {
        let reference = try Self.reference()
        func printings<Value>(of value: Value) -> [String] {
            var dumped = ""
            dump(value, to: &dumped)
            return ["\(value)", String(reflecting: value), dumped]
        }
        let texts =
            printings(of: reference) + printings(of: [reference]) + printings(of: Optional(reference.file))
            + printings(of: (1, reference.file))
        for text in texts {
            #expect(!text.contains("nWGxne") && !text.contains("9d61b1") && !text.contains("157, 97"), "\(text)")
        }
        #expect("\(reference)" == "AttachmentReference(public.jpeg, 1234 bytes)")
        #expect("\(reference.file)".hasPrefix("SealedFile(1234 bytes, sha256 0000"))
    }
}
