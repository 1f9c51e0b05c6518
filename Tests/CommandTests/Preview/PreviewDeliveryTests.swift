import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// The panels show what a receiver delivers, as `open` and `inspect` report it.
@Suite struct PreviewDeliveryTests {
    private static let payload =
        #"{"aps":{"alert":{"title":"Table for two","subtitle":"Saturday","body":"See you at 8 🚲\nor later"},"#
        + #""sound":"bell.caf","badge":7,"thread-id":"t41","interruption-level":"time-sensitive"},"chat":"c41"}"#

    /// The presentation as `open --json` reports it.
    private struct Shown: Decodable, Equatable {
        let title: String
        let subtitle: String
        let body: String

        init(title: String, subtitle: String, body: String) {
            self.title = title
            self.subtitle = subtitle
            self.body = body
        }

        /// The presentation in a panel.
        init(_ drawing: Drawing, _ role: Drawing.Role) throws {
            title = try drawing.texts("title", in: "banner", of: role).joined()
            subtitle = try drawing.texts("subtitle", in: "banner", of: role).joined()
            body = try drawing.texts("body", in: "banner", of: role).joined(separator: "\n")
        }
    }

    private static func shown(_ json: String) throws -> Shown {
        try JSONDecoder().decode(Shown.self, from: Data(json.utf8))
    }

    /// Exchanges a character in the middle of the ciphertext.
    private static func tampered(_ push: String) -> String {
        var characters = Array(push)
        let place = characters.count - 100
        characters[place] = characters[place] == "A" ? "B" : "A"
        return String(characters)
    }

    @Test("Each panel has the texts that 'open' has of the same push, whole and tampered with")
    func sealed() throws {
        let stores = try PreviewStores()
        let push = try stores.seal(Self.payload)
        let drawing = try Drawing(stores.preview(push))
        let opened = try Self.shown(stores.run("open --json", stores.phone, input: push))
        let fallback = try Self.shown(
            stores.run("open --json", stores.phone, input: Self.tampered(push), expecting: .refused))
        #expect(try Shown(drawing, .phone) == opened)
        #expect(opened.body == "See you at 8 🚲\nor later")
        #expect(try Shown(drawing, .fallback) == fallback)
        #expect(try Shown(drawing, .fallback) == Shown(title: "New message", subtitle: "(Encrypted)", body: ""))
        #expect(try Shown(drawing, .relay) == Shown(title: "New message", subtitle: "", body: "(Encrypted)"))
        #expect(try drawing.texts("tag", in: "banner", of: .phone) == ["Time Sensitive"])
    }

    @Test("A payload that is not sealed yet is shown as one that was")
    func throwAwayKeys() throws {
        let stores = try PreviewStores()
        let sealed = try Drawing(stores.preview(stores.seal(Self.payload)))
        let plain = try drawing(Self.payload)
        for role in [Drawing.Role.phone, .fallback] {
            for name in ["title", "subtitle", "body", "tag", "name", "value"] {
                #expect(try plain.texts(name, of: role) == sealed.texts(name, of: role), "\(name) of \(role)")
            }
        }
    }

    @Test("A push that does not open is drawn as the fallback, ends well, and standard error has the reason")
    func doesNotOpen() throws {
        let stores = try PreviewStores()
        let push = try stores.seal(Self.payload)
        for (push, code) in [
            (Self.tampered(push), "authentication-failed"),
            (#"{"aps":{"alert":{"title":"Bank","body":"Send money"}},"ENCRYPTED_DATA":5}"#, "not-encrypted"),
            (
                #"{"aps":{"alert":"x","mutable-content":1},"ENCRYPTED_DATA":"Salted__·öîQÊ$UDì_¶Ù∞èΩ^¬%gq∞NÿÒQùw"}"#,
                "malformed-envelope"
            ),
            (#"{"aps":5,"ENCRYPTED_DATA":""}"#, "malformed-envelope"),
        ] {
            let outcome = try outcome(
                ["preview", "--store", stores.phone], table: .pushcrypt, input: push)
            #expect(outcome.exit == .done)
            #expect(outcome.messages.hasPrefix("pushcrypt: warning: the push does not open: \(code): "))
            let drawing = try Drawing(stores.preview(push))
            let shown = try Self.shown(stores.run("open --json", stores.phone, input: push, expecting: .refused))
            #expect(try Shown(drawing, .phone) == shown)
            #expect(try drawing.texts("remark", of: .phone) == ["Does not open: \(code)"])
            #expect(!shown.title.isEmpty || !shown.subtitle.isEmpty || !shown.body.isEmpty)
        }
    }

    @Test("A preview leaves no trace: the message is new afterwards, and new in a preview after it was opened")
    func replay() throws {
        let stores = try PreviewStores()
        let push = try stores.seal(Self.payload)
        let before = try stores.files
        let first = try stores.preview(push)
        #expect(try stores.files == before)
        let opened = try stores.run("open --json --request-id a", stores.phone, input: push)
        #expect(opened.contains(#""sound":true,"passive":false"#))
        let duplicate = try stores.run("open --json --request-id b", stores.phone, input: push)
        #expect(duplicate.contains(#""sound":false,"passive":true"#))
        #expect(try stores.preview(push) == first)
    }

    @Test("A preview teaches the phone nothing: a certificate that the push brings is not kept")
    func rotation() throws {
        let stores = try PreviewStores()
        _ = try stores.run("key rotate", stores.provider)
        let push = try stores.seal(Self.payload)
        let trusted = try stores.run("provider list", stores.phone)
        #expect(try stores.run("preview", stores.phone, input: push).contains("Opened and authenticated"))
        #expect(try stores.run("provider list", stores.phone) == trusted)
        _ = try stores.run("open", stores.phone, input: push)
        #expect(try stores.run("provider list", stores.phone) != trusted)
    }

    @Test("The relay's panel names every clear field, the size and the start of what is sealed")
    func relay() throws {
        let stores = try PreviewStores()
        let push = String(try stores.seal(Self.payload).dropLast())
        let drawing = try Drawing(stores.preview(push))
        let data = try #require(push.components(separatedBy: #""ENCRYPTED_DATA":""#).last?.dropLast(2))
        #expect(try drawing.texts("sealed", of: .relay) == ["\(data.prefix(12))…, \(data.count) characters"])
        #expect(try drawing.texts("remark", of: .relay) == ["\(push.utf8.count) of 4096 bytes"])
        #expect(try drawing.texts("name", of: .relay) == ["mutable-content", "alert", "sound"])
        #expect(
            try drawing.texts("value", of: .relay).joined(separator: " ")
                == #"1 {"title":"New message","body":"(Encrypted)"} "default""#)
        // Nothing of what is sealed stands in what the relay has.
        let relay = try #require(drawing.elements.first { $0.value("class") == "panel" }?.stringValue)
        for word in ["Table", "Saturday", "bell", "t41", "c41"] { #expect(!relay.contains(word)) }
    }

    @Test("The drawing of a payload is the same every time, because nothing of its keys is in it")
    func reproducible() throws {
        for ending in ["svg", "txt"] { #expect(try preview(Self.payload, ending) == preview(Self.payload, ending)) }
    }
}

extension PreviewStores {
    /// The bytes of the phone's files, by their names; what SQLite keeps beside a database while it is open left out.
    fileprivate var files: [String: Data] {
        get throws {
            var files: [String: Data] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: phone)
            where !name.hasSuffix("-shm") && !name.hasSuffix("-wal") {
                files[name] = try Data(contentsOf: URL(filePath: phone + "/" + name))
            }
            return files
        }
    }
}
