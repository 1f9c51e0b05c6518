import Pushcrypt
import Testing

/// The reader's UTF-8 and escapes against the standard library's own decoding of Unicode.
@Suite struct JSONTextTests {
    /// Bytes on both sides of every boundary in the table of RFC 3629 section 4.
    static let boundaries: [UInt8] = [
        0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
        0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xF8, 0xFF,
    ]

    @Test(arguments: boundaries) func aStringIsAcceptedExactlyWhenItIsUTF8(_ lead: UInt8) {
        var sequences: [[UInt8]] = [[lead]]
        for second in Self.boundaries {
            sequences.append([lead, second])
            for third in Self.boundaries {
                sequences.append([lead, second, third])
                guard lead >= 0xEF else { continue }
                sequences += Self.boundaries.map { [lead, second, third, $0] }
            }
        }
        for sequence in sequences {
            let error = jsonRefusal(of: [0x22] + ContiguousArray(sequence) + [0x22])
            let isUTF8 = String(validating: sequence, as: UTF8.self) != nil
            #expect((error == nil) == isUTF8, "\(sequence)")
            #expect(error == nil || error?.code == .invalidUTF8, "\(sequence)")
        }
    }

    @Test func theFirstByteOfAnIllFormedSequenceIsNamed() throws {
        let bytes: ContiguousArray<UInt8> = [0x22, 0x61, 0xC3, 0xA9, 0xE2, 0x82, 0x22]
        let error = try #require(jsonRefusal(of: bytes))
        #expect(error.code == .invalidUTF8 && error.offset == 4)
    }

    @Test func everyCharacterIsKept() throws {
        let scalars = (0x20...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init).filter {
            $0 != "\"" && $0 != "\\"
        }
        var all = String.UnicodeScalarView()
        all.append(contentsOf: scalars)
        let json = ContiguousArray("\"\(String(all))\"".utf8)
        let root = try JSONDocument(parsing: json, maximumBytes: .max).root
        #expect(try #require(root.string).utf8.elementsEqual(String(all).utf8))
    }

    @Test func everyEscapedCodeUnitIsItsCharacterOrHalfAPair() throws {
        for unit in 0...0xFFFF as ClosedRange<UInt32> {
            let digits = String(unit + 0x10000, radix: 16, uppercase: unit % 2 == 0).dropFirst()
            let json = ContiguousArray("\"\\u\(digits)\"".utf8)
            if let scalar = Unicode.Scalar(unit) {
                #expect(try JSONDocument(parsing: json).root.string?.unicodeScalars.elementsEqual([scalar]) == true)
            } else {
                #expect(jsonRefusal(of: json)?.code == .loneSurrogate)
            }
        }
    }

    /// Below the second halves, between them and above them.
    @Test(arguments: ["\\u0041", "\\ud800", "\\udbff", "\\ue000", "\\uffff"])
    func theFirstHalfOfAPairIsFollowedByASecondOne(_ next: String) {
        let json = ContiguousArray("\"\\ud800\(next)\"".utf8)
        #expect(jsonRefusal(of: json)?.code == .loneSurrogate)
    }

    @Test func everyPlaneIsReachedByPairs() throws {
        for value in stride(from: 0x10000 as UInt32, through: 0x10FFFF, by: 0x3FF) {
            let character = Character(try #require(Unicode.Scalar(value)))
            let escapes = String(character).utf16.map { "\\u" + String($0, radix: 16) }.joined()
            #expect(try JSONDocument("\"\(escapes)\"").root.string == String(character))
        }
    }
}
