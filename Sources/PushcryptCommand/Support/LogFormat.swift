internal import Pushcrypt
package import PushcryptCommandKit

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
        var json = JSONWriter()
        json.object { json in
            json.string(event, for: "event")
            for field in fields { field.value.write(to: &json, for: field.name) }
        }
        return json.bytes + [newline]
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
