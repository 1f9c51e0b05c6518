import Foundation
import Pushcrypt
import Testing

/// The vectors of `Tests/Data/Vectors`, which an independent program made; its `README.md` explains every field.
enum FormatVectors {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    /// Reads one file.
    ///
    /// A missing field, an unknown one, an unknown outcome and an empty section are errors: a case that is not checked
    /// must not pass.
    static func read<File: Codable>(_ name: String, as type: File.Type = File.self) throws -> File {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: tests.appendingPathComponent("Data/Vectors").appendingPathComponent(name))
        return try parse(data, named: name)
    }

    static func parse<File: Codable>(_ data: Data, named name: String, as type: File.Type = File.self) throws -> File {
        let file = try JSONDecoder().decode(type, from: data)

        // Reading and writing gives the same file: otherwise a field that nothing reads would go unnoticed.
        let original = try JSONSerialization.jsonObject(with: data)
        let again = try JSONSerialization.jsonObject(with: JSONEncoder().encode(file))
        let unread = differences(original, again, at: name)
        guard unread.isEmpty else { throw Failure("not understood: \(unread.prefix(5).joined(separator: ", "))") }

        let sections = original as? [String: [Any]] ?? [:]
        guard !sections.isEmpty, sections.values.allSatisfy({ !$0.isEmpty }) else {
            throw Failure("\(name) has no sections, or one without a case")
        }
        return file
    }

    /// The places where `again` is not what `original` is.
    private static func differences(_ original: Any, _ again: Any?, at place: String) -> [String] {
        switch (original, again) {
        case (let original as [String: Any], let again as [String: Any]):
            Set(original.keys).union(again.keys).sorted().flatMap { name in
                differences(original[name] as Any, again[name], at: "\(place).\(name)")
            }
        case (let original as [Any], let again as [Any]) where original.count == again.count:
            zip(original, again).enumerated().flatMap { index, pair in
                differences(pair.0, pair.1, at: "\(place)[\(index)]")
            }
        case (let original as NSObject, let again as NSObject) where original == again: []
        default: [place]
        }
    }
}

/// A member that is there, and null where it says nothing.
@propertyWrapper struct OrNull<Value: Codable & Sendable>: Codable, Sendable {
    var wrappedValue: Value?

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

/// One case of a section; its name is the sentence that it proves.
protocol FormatVector: Codable, Sendable, CustomTestStringConvertible {
    var name: String { get }
}

extension FormatVector {
    var testDescription: String { name }
}

extension Hex: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes.hex)
    }
}
