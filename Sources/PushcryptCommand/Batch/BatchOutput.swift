internal import PushcryptCommandKit

/// Where the answers of a batch go: standard output, or a file that appears when the batch is done.
struct BatchOutput: ~Copyable {
    /// Writes an answer; used by one thread at a time.
    let sink: BatchSink
    private let file: OutputFile?

    /// Takes what the command line says; a secret file is readable by its owner only.
    init(isSecret: Bool, _ destination: OutputArguments, _ console: Console) throws(CommandFailure) {
        guard let path = destination.file else {
            sink = BatchSink(output: console.output, name: "standard output", isFile: false, console: console)
            file = nil
            return
        }
        let file = try OutputFile(path, mode: isSecret ? 0o600 : 0o666, force: destination.force)
        sink = BatchSink(output: file.descriptor, name: quoted(path), isFile: true, console: console)
        self.file = consume file
    }

    /// Whether the answers go to a file that is not there yet.
    var isFile: Bool { sink.isFile }

    /// Gives the file its name; what is not finished leaves none.
    consuming func finish() throws(CommandFailure) { try file?.commit() }
}

/// The descriptors that answers go to.
struct BatchSink: Sendable {
    let output: Descriptor
    let name: String
    let isFile: Bool
    let console: Console

    /// Writes what was answered, and then what is said about it.
    func write(_ answer: BatchAnswer) throws(CommandFailure) {
        do throws(SystemError) {
            try output.writeAll(shown(answer.output).span)
        } catch {
            throw error == .readerIsGone ? .readerIsGone : .failed("cannot write \(name): \(error.text)")
        }
        // There is nowhere to report a failure.
        try? console.messages.writeAll(answer.log.span)
    }

    /// On a terminal, what would act there is escaped.
    private func shown(_ lines: ContiguousArray<UInt8>) -> ContiguousArray<UInt8> {
        guard output.isTerminal else { return lines }
        let safe = lines.split(separator: newline).map {
            sanitized(forTerminal: String(decoding: $0, as: UTF8.self)) + "\n"
        }
        return ContiguousArray(safe.joined().utf8)
    }
}
