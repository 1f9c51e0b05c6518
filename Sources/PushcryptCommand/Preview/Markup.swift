internal import PushcryptCommandKit

/// XML, and HTML that is XML as well: balanced by construction, and what stands in it is escaped by whoever writes it.
struct Markup {
    /// Names are the program's own, values may be anybody's.
    typealias Attributes = KeyValuePairs<StaticString, String>

    private(set) var text: String

    /// Begins with what stands before the first element.
    init(_ start: StaticString = "") { text = "\(start)" }

    /// Writes an element with what is in it.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], _ content: (inout Markup) -> Void) {
        begin(name, attributes)
        text += ">"
        content(&self)
        text += "</\(name)>"
    }

    /// Writes an element with a text.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], text: String) {
        element(name, attributes) { $0.text += XML.escaped(text) }
    }

    /// Writes an element that has nothing in it: a shape of SVG, or one of HTML's void elements.
    mutating func shape(_ name: StaticString, _ attributes: Attributes) {
        begin(name, attributes)
        text += "/>"
    }

    /// Writes style rules, which are the program's own and have nothing to escape.
    mutating func style(_ rules: String) {
        precondition(!rules.contains { $0 == "<" || $0 == "&" }, "style rules with markup in them")
        text += "<style>\(rules)</style>"
    }

    mutating func newline() { text += "\n" }

    private mutating func begin(_ name: StaticString, _ attributes: Attributes) {
        text += "<\(name)"
        for (name, value) in attributes { text += " \(name)=\"\(XML.escaped(value))\"" }
    }
}
