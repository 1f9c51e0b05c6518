import Foundation
import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// A drawing that was parsed as XML: what a reader finds in it.
struct Drawing {
    private let root: XMLElement
    /// Elements go with their document.
    private let document: XMLDocument

    /// Parses a drawing; what is not well-formed throws.
    init(_ text: String) throws {
        document = try XMLDocument(xmlString: text)
        root = try #require(document.rootElement())
    }

    /// Every element, in the order of the file.
    var elements: [XMLElement] { Self.elements(in: root) }

    /// Every text and every value of an attribute.
    var strings: [String] {
        elements.flatMap { element in
            (element.children ?? []).filter { $0.kind == .text }.compactMap(\.stringValue)
                + (element.attributes ?? []).compactMap(\.stringValue)
        }
    }

    /// The owner of a panel's view.
    enum Role: Int { case relay, phone, fallback }

    /// The elements of a class in a view (`banner`, `expanded`) of a panel, or anywhere in the panel.
    func elements(_ name: String, in view: String? = nil, of role: Role) throws -> [XMLElement] {
        let panels = elements.filter { $0.value("class") == "panel" }
        try #require(panels.count == 3)
        let panel = panels[role.rawValue]
        let places = view.map { view in Self.elements(in: panel).filter { $0.value("class") == view } } ?? [panel]
        return places.flatMap(Self.elements).filter { $0.value("class") == name }
    }

    /// The lines of text of a class in a view of a panel.
    func texts(_ name: String, in view: String? = nil, of role: Role) throws -> [String] {
        try elements(name, in: view, of: role).map { $0.stringValue ?? "" }
    }

    private static func elements(in element: XMLElement) -> [XMLElement] {
        [element] + (element.children ?? []).compactMap { $0 as? XMLElement }.flatMap(elements)
    }
}

extension XMLElement {
    func value(_ name: String) -> String { named(name)?.stringValue ?? "" }

    /// Foundation's own `attribute(forName:)` finds none in an element with a namespace.
    func named(_ name: String) -> XMLNode? { attributes?.first { $0.name == name } }
}

// MARK: Making drawings

/// The drawing of a payload, with keys that are discarded.
func preview(_ payload: String, _ ending: String = "svg", _ options: [String] = []) throws -> String {
    let directory = try TemporaryDirectory()
    let file = directory.file("drawing." + ending)
    let outcome = try outcome(["preview", "-o", file] + options, table: .pushcrypt, input: payload)
    try #require(outcome.exit == .done, "\(outcome.messages)")
    return try directory.read("drawing." + ending)
}

/// The same, parsed.
func drawing(_ payload: String, _ options: [String] = []) throws -> Drawing {
    try Drawing(preview(payload, "svg", options))
}

/// A provider's and a phone's store.
struct PreviewStores {
    let directory: TemporaryDirectory

    var provider: String { directory.file("P") }
    var phone: String { directory.file("D") }

    init() throws {
        directory = try TemporaryDirectory()
        for store in [provider, phone] { _ = try run("init", store) }
        let key = try run("key new provider --topic com.example.app", provider)
        let device = try run("key new device --topic com.example.app", phone)
        _ = try run("device add phone1 -", provider, input: device)
        _ = try run("provider pin - --topic com.example.app", phone, input: key)
    }

    /// The payload, sealed for the phone.
    func seal(_ payload: String) throws -> String { try run("seal --to phone1", provider, input: payload) }

    /// The drawing of a sealed push, with the phone's keys.
    func preview(_ push: String) throws -> String {
        _ = try run("preview --force -o \(directory.file("drawing.svg"))", phone, input: push)
        return try directory.read("drawing.svg")
    }

    /// The output of a command on a store.
    func run(_ line: String, _ store: String, input: String = "", expecting exit: ExitCode = .done) throws -> String {
        let words = line.split(separator: " ").map(String.init) + ["--store", store]
        let outcome = try outcome(words, table: .pushcrypt, input: input)
        try #require(outcome.exit == exit, "\(line): \(outcome.messages)")
        return outcome.output
    }
}
