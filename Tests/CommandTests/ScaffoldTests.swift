import Testing

@testable import PushcryptCommand

/// What a scaffold consists of. That it compiles and runs is tested by building one (`Tests/Scripts/scaffold.sh`).
@Suite struct ScaffoldTests {
    @Test(
        "A literal says what the text says, whatever is in it",
        arguments: [
            ("", #""""#), ("MESSAGE", #""MESSAGE""#), ("a#b", #""a#b""#), ("#", ##""#""##),
            (#"a"b"#, ###"#"a"b"#"###), (#"a\b"#, ###"#"a\b"#"###), (#"\(x)"#, ###"#"\(x)"#"###),
            (##"a"#b"##, ####"##"a"#b"##"####), (##"a\#(b)"##, ####"##"a\#(b)"##"####),
            (###""##"# """###, ####"###""##"# """###"####),
            // A character of two scalars, of which a compiler sees the first by itself.
            ("\"\u{301}", "#\"\"\u{301}\"#"),
        ])
    func literal(text: String, literal: String) {
        #expect(swiftLiteral(text) == literal)
    }

    @Test("A property list escapes what XML would take for its own")
    func propertyList() {
        let file = PropertyListText.file(
            "a.plist",
            [
                ("a<b", .text("c & d")), ("e", .array([.bool(true), .real("0.5")])),
                ("f", .dictionary([("g", .text(""))])),
            ]
        )
        #expect(file.path == "a.plist")
        #expect(
            file.text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0">
                <dict>
                    <key>a&lt;b</key>
                    <string>c &amp; d</string>
                    <key>e</key>
                    <array>
                        <true/>
                        <real>0.5</real>
                    </array>
                    <key>f</key>
                    <dict>
                        <key>g</key>
                        <string></string>
                    </dict>
                </dict>
                </plist>

                """)
    }

    // The second file cannot be written, because the first has the name of its folder.
    private static let impossible = [ScaffoldFile(path: "a", text: "1"), ScaffoldFile(path: "a/b", text: "2")]

    @Test("A new folder appears whole or not at all")
    func wholeOrNothing() throws {
        let directory = try TemporaryDirectory()
        let folder = try ScaffoldFolder(directory.file("out"), force: false)
        #expect(throws: CommandFailure.self) { try folder.write(Self.impossible) }
        #expect(try directory.names == [])
        try folder.write([ScaffoldFile(path: "a/b", text: "2"), ScaffoldFile(path: "c", text: "3")])
        #expect(try directory.names == ["out"])
        #expect(try directory.read("out/a/b") == "2")
        #expect(try directory.read("out/c") == "3")
    }

    @Test("A folder that somebody has made meanwhile is left alone")
    func race() throws {
        let directory = try TemporaryDirectory()
        let folder = try ScaffoldFolder(directory.file("out"), force: false)
        try directory.write("mine", to: "out")
        #expect(throws: CommandFailure.self) { try folder.write([ScaffoldFile(path: "a", text: "1")]) }
        #expect(try directory.names == ["out"])
        #expect(try directory.read("out") == "mine")
    }

    @Test("In a folder that is there, a failure says what is written")
    func partly() throws {
        let directory = try TemporaryDirectory()
        let folder = try ScaffoldFolder(directory.path + "//", force: false)
        #expect(folder.path == directory.path)
        let failure = #expect(throws: CommandFailure.self) { try folder.write(Self.impossible) }
        #expect(failure?.hints == ["these are written: a"])
    }
}
