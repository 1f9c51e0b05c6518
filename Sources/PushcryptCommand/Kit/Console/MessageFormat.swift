/// The form of messages and events on standard error, one line each.
package enum MessageFormat: Sendable {
    /// `program: EVENT name=value …`, for users, and for programs that split at spaces.
    case text
    /// Lines for programs. The closure renders an event and its fields, newline included.
    case rendered(@Sendable (_ event: String, _ fields: [Field]) -> ContiguousArray<UInt8>)

    package typealias Field = (name: String, value: Value)

    /// A value of an event. Text is not quoted: a word that programs read must contain no spaces.
    package enum Value: Sendable {
        case word(String)
        case number(Int)
        /// A time, in nanoseconds.
        case seconds(UInt64)
        /// Numbers by name.
        case counts([String: Int])
    }

    /// One line, including its newline.
    package func line(_ event: String, _ fields: [Field]) -> ContiguousArray<UInt8> {
        if case .rendered(let render) = self { return render(event, fields) }
        let text = fields.reduce("\(programName): \(event)") { "\($0) \($1.name)=\($1.value.text)" }
        return ContiguousArray((text + "\n").utf8)
    }
}

extension MessageFormat.Value {
    fileprivate var text: String {
        switch self {
        case .word(let word): word
        case .number(let number): "\(number)"
        case .seconds(let nanoseconds): decimalText(nanoseconds: nanoseconds)
        case .counts(let counts):
            counts.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
        }
    }
}
