package import Pushcrypt
package import PushcryptCommandKit

/// An object of JSON, without a newline.
package func jsonObject(_ members: (inout JSONWriter) -> Void) -> ContiguousArray<UInt8> {
    var json = JSONWriter()
    json.object(members)
    return json.bytes
}

/// An object of JSON as a line.
func jsonLine(_ members: (inout JSONWriter) -> Void) -> String {
    String(decoding: jsonObject(members), as: UTF8.self) + "\n"
}

extension JSONWriter {
    /// Writes an array of strings.
    mutating func strings(_ texts: [String], for name: String) {
        array(for: name) { json in for text in texts { json.string(text) } }
    }
}

extension Console {
    /// The current time.
    var timestamp: Timestamp { Timestamp(milliseconds: now()) }

    /// Writes an object as a line to standard output.
    func writeObject(_ members: (inout JSONWriter) -> Void) throws {
        try write(shown(json: jsonObject(members)) + "\n")
    }

    /// Writes data for its owner alone to a command's `--output`, or to standard output.
    func deliver(secret text: String, to output: OutputArguments) throws {
        try deliver(ContiguousArray(text.utf8).span, to: output, isSecret: true)
    }
}

/// The name of a file in messages; `-` is standard input.
func inputName(_ path: String) -> String { path == "-" ? "standard input" : quoted(path) }

/// Lists the rows that have a value, in two columns that are safe for a terminal.
func listed(_ rows: [(String, String?)]) -> String {
    listed(rows.compactMap { name, value in value.map { (name, sanitized(forTerminal: $0)) } }, indent: 0)
}

package enum LogFormat: String, CaseIterable, Sendable {
    /// `pushcrypt: EVENT name=value …`.
    case text
    /// An object with `event`, and the values under the same names.
    case json

    /// The form of messages and events on standard error.
    package var messages: MessageFormat {
        switch self {
        case .text: .text
        case .json: .rendered(Self.json)
        }
    }

    private static func json(_ event: String, _ fields: [MessageFormat.Field]) -> ContiguousArray<UInt8> {
        jsonObject { json in
            json.string(event, for: "event")
            for field in fields { field.value.write(to: &json, for: field.name) }
        } + [newline]
    }
}

extension MessageFormat.Value {
    fileprivate func write(to json: inout JSONWriter, for name: String) {
        switch self {
        case .word(let word): json.string(word, for: name)
        case .number(let number): json.integer(number, for: name)
        case .seconds(let nanoseconds):
            json.raw(ContiguousArray(decimalText(nanoseconds: nanoseconds).utf8), for: name)
        case .counts(let counts):
            json.object(for: name) { json in
                for (name, count) in counts.sorted(by: { $0.key < $1.key }) { json.integer(count, for: name) }
            }
        }
    }
}

extension Arguments {
    /// `--log`: the form of messages on standard error.
    mutating func log() -> LogFormat? {
        choice(
            "--log", "FORMAT",
            help: "write a line per message to standard error, without content")
    }
}
