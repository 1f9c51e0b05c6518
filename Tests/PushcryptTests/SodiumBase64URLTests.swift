import Foundation
import Testing

@testable import Pushcrypt

/// base64url without padding: RFC 4648 section 5, and one text for each byte string.
@Suite struct SodiumBase64URLTests {
    private static let alphabet = Bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func decode(_ text: String) -> Bytes? { Base64URL.decode(Bytes(text.utf8).span) }

    /// 251, 251 + 37, … modulo 256.
    private static func sample(_ count: Int) -> Bytes { Bytes((0..<count).map { UInt8(($0 * 37 + 251) % 256) }) }

    @Test func textIsThatOfRFC4648() {
        let known = [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ]
        for (plain, text) in known {
            #expect(Base64URL.string(Bytes(plain.utf8).span) == text)
            #expect(Self.decode(text) == Bytes(plain.utf8))
        }
    }

    @Test func everyLengthAgreesWithFoundation() {
        for count in 0...100 {
            let text = Data(Self.sample(count)).base64EncodedString()
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "=", with: "")
            var output = Bytes("before ".utf8)
            Base64URL.append(Self.sample(count).span, to: &output)
            #expect(String(decoding: output, as: UTF8.self) == "before " + text)
            #expect(Base64URL.encodedLength(count) == text.utf8.count)
            #expect(Self.decode(text) == Self.sample(count))
        }
    }

    @Test func otherTextIsRefused() {
        let texts = [
            "=", "==", "Zg==", "Zg=", "Zm8=", "Zm9v=", "Zm9v====",  // padding
            "Zg\n", "Zm9v\n", "Zm9v\r\n", "\nZm9v", "Zm\n9v", " Zm9v", "Zm9v ", "Zm 9v", "Zm\t9v", "Zm9v\0", "Z\0g",
            "+yBF", "-yB/", "+/+/",  // the standard alphabet
            "Z", "Zm9vY", "Zm9vYmFyZ",  // lengths that no byte string has
            "Zh", "Zm9", "Zm9vYmF", "-x", "-yB",  // unused bits that are not zero
            "Zm9v\u{e9}", "Zm9v.", "Zm,v", "Zm9v🔑",
        ]
        for text in texts { #expect(Self.decode(text) == nil, "\(text.debugDescription)") }
    }

    @Test func everyByteOutsideTheAlphabetIsRefusedAtEveryPlace() {
        for position in 0..<8 {
            for byte in UInt8.min...UInt8.max {
                var text = Bytes("AAAAAAAA".utf8)
                text[position] = byte
                #expect((Base64URL.decode(text.span) != nil) == Self.alphabet.contains(byte), "\(byte) at \(position)")
            }
        }
    }

    /// Of two characters 12 bits are read and 8 used, of three 18 and 16.
    @Test func byteStringHasOneText() {
        var texts: [Bytes: Bytes] = [:]
        for first in Self.alphabet {
            for second in Self.alphabet {
                for text: Bytes in [[first, second], [UInt8(ascii: "A"), first, second]] {
                    guard let bytes = Base64URL.decode(text.span) else { continue }
                    #expect(texts.updateValue(text, forKey: bytes) == nil, "two texts of \(bytes)")
                }
            }
        }
        // All 256 single bytes, and the pairs of bytes whose first 6 bits are zero.
        #expect(texts.count == 256 + 1024)
    }
}
