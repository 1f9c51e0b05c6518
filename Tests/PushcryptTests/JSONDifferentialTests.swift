import Foundation
import Testing

@testable import Pushcrypt

/// This reader beside Foundation's, on texts made at random and damaged at random.
@Suite struct JSONDifferentialTests {
    private func foundation(_ bytes: ContiguousArray<UInt8>) -> Any? {
        try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func whatIsWellFormedIsReadAlike(_ seed: UInt64) throws {
        var generator = JSONGenerator(seed: seed)
        for _ in 0..<250 {
            let sample = generator.sample()
            let root = try JSONDocument(parsing: sample.spaced).root
            #expect(jsonText(root.minified()) == jsonText(sample.compact))
            #expect(isSame(root, try #require(foundation(sample.spaced))), "\(jsonText(sample.spaced))")
        }
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func whatIsDamagedIsReadAlikeOrRefused(_ seed: UInt64) throws {
        var generator = JSONGenerator(seed: seed)
        var bothAccept = 0
        var bothRefuse = 0
        for _ in 0..<1000 {
            let damaged = generator.damaged(generator.sample().spaced)
            switch (Result { try JSONDocument(parsing: damaged) }, foundation(damaged)) {
            case (.success(let document), let theirs?):
                // Foundation drops U+FEFF from the beginning of a string, and after an escape.
                let isAltered = jsonText(damaged).unicodeScalars.contains("\u{FEFF}")
                #expect(isAltered || isSame(document.root, theirs), "\(jsonText(damaged))")
                bothAccept += 1
            case (.success(let document), nil):
                #expect(holdsUnrepresentableNumber(document.root), "\(jsonText(damaged))")
            case (.failure(let failure), _?):
                let error = try #require(failure as? JSONError)
                #expect(isMeantToBeStricter(error, damaged), "\(error): \(jsonText(damaged))")
            case (.failure, nil):
                bothRefuse += 1
            }
        }
        #expect(bothAccept > 100 && bothRefuse > 100)
    }

    private func isSame(_ ours: JSONValue, _ theirs: Any) -> Bool {
        switch ours.kind {
        case .object:
            guard let theirs = theirs as? [String: Any] else { return false }
            // Foundation's dictionary holds names that are canonically equivalent once: so count those of ours in the
            // same way.
            return Set(ours.members.map(\.name)).count == theirs.count
                && ours.members.allSatisfy { name, value in
                    ours[name]?.range == value.range && theirs[name].map { isSame(value, $0) } ?? false
                }
        case .array:
            guard let theirs = theirs as? [Any], theirs.count == ours.elements.count else { return false }
            return zip(ours.elements, theirs).allSatisfy { isSame($0, $1) }
        case .string:
            guard let string = ours.string, let theirs = theirs as? String else { return false }
            return string.utf8.elementsEqual(theirs.utf8)
        case .number:
            guard let theirs = theirs as? NSNumber else { return false }
            // As text, because the double of Foundation's decimal numbers is not always the nearest.
            return ours.double == Double(theirs.stringValue)
                && (ours.integer.map { $0 == theirs.int64Value } ?? true)
        case .bool:
            return jsonText(ours.raw) == (theirs as? Bool).map { $0 ? "true" : "false" }
        case .null:
            return theirs is NSNull
        }
    }

    /// Foundation refuses a number that no double is near to; here its digits are kept, and `double` is `nil`.
    private func holdsUnrepresentableNumber(_ value: JSONValue) -> Bool {
        value.kind == .number && value.double == nil
            || value.elements.contains(where: holdsUnrepresentableNumber)
            || value.members.map(\.value).contains(where: holdsUnrepresentableNumber)
    }

    /// Input that Foundation accepts: a name twice, a comma before a closing bracket, and UTF-16, which it guesses from
    /// zero bytes.
    private func isMeantToBeStricter(_ error: JSONError, _ bytes: ContiguousArray<UInt8>) -> Bool {
        switch error.code {
        case .duplicateName:
            true
        case .unexpectedByte where bytes[error.offset] == UInt8(ascii: "]") || bytes[error.offset] == UInt8(ascii: "}"):
            bytes[..<error.offset].last { !"\t\n\r ".utf8.contains($0) } == UInt8(ascii: ",")
        default:
            bytes.prefix(4).contains(0)
        }
    }
}
