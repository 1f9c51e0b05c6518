/// The environment of a command: three streams, the variables and a clock.
///
/// Standard output has only data. Messages for the user go to standard error, one line each.
package struct Console: Sendable {
    package let input: Descriptor
    package let output: Descriptor
    package let messages: Descriptor
    /// The terminal that asks for passphrases, even if the streams are redirected.
    package let terminal: String
    package let variable: @Sendable (String) -> String?
    /// The time in milliseconds since 1970-01-01 UTC.
    package let now: @Sendable () -> UInt64
    /// Removes secrets from a line before it is written to standard error.
    package let redact: @Sendable (String) -> String
    /// The whole line of the command, without the program's name.
    package var arguments: [String] = []
    /// The form of messages on standard error.
    package var messageFormat = MessageFormat.text
    /// Whether only errors and warnings go to standard error.
    package var isQuiet = false
    /// The warnings that are given once; not a set, whose type would be made at each start.
    private let warned = Monitor<[String]>([])

    package init(
        input: Descriptor, output: Descriptor, messages: Descriptor, terminal: String,
        variable: @escaping @Sendable (String) -> String?, now: @escaping @Sendable () -> UInt64,
        redact: @escaping @Sendable (String) -> String
    ) {
        self.input = input
        self.output = output
        self.messages = messages
        self.terminal = terminal
        self.variable = variable
        self.now = now
        self.redact = redact
    }

    /// The streams, the environment and the clock of this process.
    package static func process(redacting redact: @escaping @Sendable (String) -> String) -> Console {
        Console(
            input: .standardInput, output: .standardOutput, messages: .standardError, terminal: "/dev/tty",
            variable: SystemEnvironment.variable, now: SystemEnvironment.milliseconds,
            redact: redact)
    }
}

// MARK: Data

extension Console {
    /// Writes all data to standard output.
    ///
    /// - Throws: `Failure.readerIsGone` if the reader has closed it, which ends the command without a message.
    package func write(_ bytes: Span<UInt8>) throws(Failure) {
        do throws(SystemError) {
            try output.writeAll(bytes)
        } catch {
            throw error == .readerIsGone ? .readerIsGone : .failed("cannot write standard output: \(error.text)")
        }
    }

    /// Prepares JSON without line breaks between its tokens for standard output: on a terminal, control characters are escaped,
    /// which does not change the meaning.
    package func shown(json: ContiguousArray<UInt8>) -> String {
        let text = String(decoding: json, as: UTF8.self)
        return showsOutput ? sanitized(forTerminal: text) : text
    }

    /// Writes text to standard output.
    package func write(_ text: String) throws(Failure) {
        try write(ContiguousArray(text.utf8).span)
    }

    /// Writes bytes and a newline to standard output.
    package func write(line bytes: ContiguousArray<UInt8>) throws(Failure) {
        let line = bytes + [newline]
        try write(line.span)
    }
}

// MARK: Stopped commands

extension Console {
    /// Whether a person at a terminal has ended the work with Control-C.
    package func isInterrupted(by stop: StopSignal) -> Bool { stop.isInterrupted && messages.isTerminal }

    /// The end of a command that a signal has stopped before all of its input was read.
    package func failure(stoppedBy stop: StopSignal, after lines: Int) -> Failure {
        Failure(
            isInterrupted(by: stop) ? .interrupted : .failed,
            "stopped by a signal after \(lines) lines: the rest of the input was not read")
    }
}

// MARK: Messages

extension Console {
    /// Writes an error; `code` is for programs.
    package func error(_ text: String, code: String = "refused") {
        report("error", .red, text, [("code", .word(code))])
    }

    /// Writes why a command failed, and what to do next.
    func report(_ failure: Failure) {
        let facts: [MessageFormat.Field] = [
            ("code", .word(failure.code)), ("exit", .number(Int(failure.exit.rawValue))),
        ]
        report("error", .red, failure.message, facts)
        for hint in failure.hints { report("hint", .cyan, hint) }
    }

    /// Writes a warning.
    package func warning(_ text: String) { report("warning", .yellow, text) }

    /// Writes a warning the first time that it, or another of its kind, is due in this process.
    package func warningOnce(_ text: @autoclosure () -> String, kind: String? = nil) {
        warned.change { given in
            let name = kind ?? text()
            guard !given.contains(name) else { return }
            given.append(name)
            warning(kind == nil ? name : text())
        }
    }

    /// The warnings so far that are given once.
    package var warningsGivenOnce: [String] { warned.change { $0.sorted() } }

    /// Writes a hint about what to do next, unless only errors and warnings are wanted.
    package func hint(_ text: String) { if !isQuiet { report("hint", .cyan, text) } }

    /// Writes the one line about a change that a command has made, such as `added phone1: …`, unless only errors and
    /// warnings are wanted.
    package func changed(_ text: String) {
        guard !isQuiet else { return }
        switch messageFormat {
        case .text: log(sanitized(forTerminal: text))
        case .rendered: log("changed", [("message", .word(text))])
        }
    }

    /// Writes an event for users.
    package func log(_ text: String) { send(ContiguousArray("\(programName): \(text)\n".utf8)) }

    /// Writes an event for a log that users and programs read.
    package func log(_ event: String, _ fields: [MessageFormat.Field]) { send(messageFormat.line(event, fields)) }

    /// - Parameter facts: What only programs read.
    private func report(
        _ label: String, _ style: TextStyle, _ text: String, _ facts: [MessageFormat.Field] = []
    ) {
        switch messageFormat {
        case .text:
            let label = allowsColour(messages) ? style.applied(to: label + ":") : label + ":"
            log("\(label) \(sanitized(forTerminal: text))")
        case .rendered: log(label, facts + [("message", .word(text))])
        }
    }

    private func send(_ line: ContiguousArray<UInt8>) {
        let text = redact(String(decoding: line, as: UTF8.self))
        // There is nowhere to report a failure.
        try? messages.writeAll(ContiguousArray(text.utf8).span)
    }
}

// MARK: Colour

extension Console {
    /// Whether standard output is a terminal.
    package var showsOutput: Bool { output.isTerminal }

    /// The text in a style if standard output is a terminal with colour, otherwise the text unchanged.
    package func styled(_ text: String, _ style: TextStyle) -> String {
        allowsColour(output) ? style.applied(to: text) : text
    }

    /// Whether a terminal gets colour; a `NO_COLOR` that is not empty turns it off (no-color.org).
    private func allowsColour(_ stream: Descriptor) -> Bool {
        stream.isTerminal && (variable("NO_COLOR") ?? "").isEmpty && variable("TERM") != "dumb"
    }
}

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
