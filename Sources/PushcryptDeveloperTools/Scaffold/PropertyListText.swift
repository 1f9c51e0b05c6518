internal import PushcryptCommandKit

/// A property list in the form that people and version control read: XML. Only what a scaffold needs can be in it.
enum PropertyListText {
    indirect enum Value: Sendable {
        case text(String)
        case real(String)
        case bool(Bool)
        case array([Value])
        /// In the order given.
        case dictionary([(key: String, value: Value)])
    }

    /// A whole file.
    static func file(_ path: String, _ members: [(key: String, value: Value)]) -> ScaffoldFile {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        write(.dictionary(members), to: &text, indent: "")
        return ScaffoldFile(path: path, text: text + "</plist>\n")
    }

    private static func write(_ value: Value, to text: inout String, indent: String) {
        let inner = indent + "    "
        switch value {
        case .text(let string): text += indent + element("string", string)
        case .real(let number): text += indent + element("real", number)
        case .bool(let bool): text += indent + (bool ? "<true/>\n" : "<false/>\n")
        case .array(let values):
            text += indent + "<array>\n"
            for value in values { write(value, to: &text, indent: inner) }
            text += indent + "</array>\n"
        case .dictionary(let members):
            text += indent + "<dict>\n"
            for (key, value) in members {
                text += inner + element("key", key)
                write(value, to: &text, indent: inner)
            }
            text += indent + "</dict>\n"
        }
    }

    private static func element(_ name: String, _ content: String) -> String {
        "<\(name)>\(XML.escaped(content))</\(name)>\n"
    }
}
