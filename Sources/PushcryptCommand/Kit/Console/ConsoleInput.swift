// The Darwin branches were typechecked on Linux and not run.
#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

// MARK: Data

extension Console {
    /// Reads a whole file, or standard input for `-`, of at most `limit` bytes.
    ///
    /// Longer input is refused with exit 65, and so is empty input unless `mayBeEmpty` is true. At most one byte more than the
    /// limit is held in memory.
    package func read(
        _ path: String, limit: Int, mayBeEmpty: Bool = false
    ) throws(Failure) -> ContiguousArray<UInt8> {
        hintIfTyped(path)
        let file = try InputFile(path, self)
        let bytes = try file.read(limit: limit)
        guard mayBeEmpty || !bytes.isEmpty else {
            throw .refused("\(file.name) \(path == "-" ? "was" : "is") empty")
        }
        return bytes
    }

    /// Tells a person at the terminal that the program waits for a file.
    package func hintIfTyped(_ path: String) {
        if path == "-", input.isTerminal { hint("reading from the terminal; control-d on a new line ends the input") }
    }
}

// MARK: Secrets

extension Console {
    /// The space for a key text or passphrase of at most 4096 bytes including the newline, and one byte to find its end.
    package static let secretCapacity = 4096 + 1

    /// Reads a secret from a file, from an open descriptor (`fd:N`) or from standard input (`-`).
    ///
    /// The bytes are written only into `secret`, which the caller must wipe, also after a failure. One newline at the end is
    /// not part of the secret if `isText` is true. An empty or too long secret is refused. A file that every user of the machine may
    /// read or change is warned of, unless `isShared` is true because the secret is not a key. A group may read, because Kubernetes,
    /// Vault and systemd provide secrets in this way.
    ///
    /// - Returns: The length in bytes.
    package func readSecret(
        from source: String, isShared: Bool = false, isText: Bool = true, into secret: inout MutableSpan<UInt8>
    ) throws(Failure) -> Int {
        let file =
            if source.hasPrefix("fd:") {
                InputFile(Descriptor(number: try descriptorNumber(source)), named: quoted(source))
            } else {
                try InputFile(source, self)
            }
        if !isShared { warnIfOfEverybody(file.descriptor, named: file.name) }
        return try fill(&secret, from: file, isText: isText)
    }

    /// Asks the user for a secret on the terminal, without showing it; otherwise like `readSecret`.
    ///
    /// - Parameter otherwise: The hint if there is no terminal.
    package func askSecret(
        _ question: String, otherwise hint: String, into secret: inout MutableSpan<UInt8>
    ) throws(Failure) -> Int {
        let answer = try ask(question, isHidden: true, "there is no terminal to ask at", hint, into: &secret)
        switch answer {
        case .line(0), .ended: throw .failed("nothing was entered")
        case .line(let count): return count
        case .tooLong: throw .refused("what was entered is longer than \(secret.count - 1) bytes")
        }
    }

    /// Asks the user on the terminal to agree, with the word "yes"; any other answer ends the command.
    ///
    /// - Parameter otherwise: The hint if there is no terminal.
    package func agree(_ question: String, otherwise hint: String) throws(Failure) {
        var line = ContiguousArray<UInt8>(repeating: 0, count: 16)
        var span = line.mutableSpan
        let answer = try ask(
            "\(question) (yes or no): ", isHidden: false,
            "this needs your consent, and there is no terminal to ask at", hint, into: &span)
        guard case .line(let count) = answer, Array(line[..<count]) == Array("yes".utf8) else {
            throw .failed("nothing was changed")
        }
    }

    private func ask(
        _ question: String, isHidden: Bool, _ missing: String, _ hint: String, into line: inout MutableSpan<UInt8>
    ) throws(Failure) -> Terminal.Answer {
        do throws(SystemError) {
            return try Terminal.ask(question, at: terminal, isHidden: isHidden, into: &line)
        } catch {
            throw .usage("\(missing): \(error.text)", hint: hint)
        }
    }

    /// Warns of a file with a secret, which the caller reads, if every user of the machine may read or change it.
    package func warnIfOfEverybody(_ path: String) {
        guard let file = try? OpenFile(path, flags: O_RDONLY | O_NOCTTY | O_NONBLOCK) else { return }
        warnIfOfEverybody(file.descriptor, named: quoted(path))
    }

    private func warnIfOfEverybody(_ source: Descriptor, named name: String) {
        guard source.isFileOfEverybody else { return }
        warningOnce(
            "every user of this machine can read or change \(name), which holds a secret: chmod o-rwx it (in Kubernetes, defaultMode: 0440)"
        )
    }

    private func fill(
        _ secret: inout MutableSpan<UInt8>, from file: borrowing InputFile, isText: Bool
    ) throws(Failure) -> Int {
        var filled = 0
        while true {
            if filled == secret.count { throw .refused("\(file.name) is too long for a secret") }
            do throws(SystemError) {
                let count = try file.descriptor.readSome(into: &secret, from: filled)
                if count == 0 { break }
                filled += count
            } catch {
                throw file.failure(error)
            }
        }
        if isText, filled > 0, secret[filled - 1] == UInt8(ascii: "\n") {
            filled -= 1
            if filled > 0, secret[filled - 1] == UInt8(ascii: "\r") { filled -= 1 }
        }
        guard filled > 0 else { throw .refused("\(file.name) \(file.name == "standard input" ? "was" : "is") empty") }
        return filled
    }

    private func descriptorNumber(_ source: String) throws(Failure) -> Int32 {
        guard let number = parseInteger(source.dropFirst(3), in: 0...Int(Int32.max)) else {
            throw .usage("\(quoted(source)) names no descriptor", hint: "write for example fd:3")
        }
        return Int32(number)
    }
}

/// A file of any size, or standard input, read in pieces.
package struct InputFile: ~Copyable {
    /// The maximum length of a piece.
    package static let pieceLength = 65_536

    /// The name in messages.
    package let name: String
    /// Valid for as long as this value exists.
    package let descriptor: Descriptor
    private let file: OpenFile?
    /// The offset at which a regular file is read; nil for pipes, terminals and similar, which can be read once.
    private let start: off_t?

    /// Opens a path; `-` is standard input.
    package init(_ path: String, _ console: Console) throws(Failure) {
        if path == "-" {
            self.init(console.input, named: "standard input")
        } else {
            try self.init(path)
        }
    }

    package init(_ path: String) throws(Failure) {
        do throws(SystemError) {
            let file = try OpenFile(path, flags: O_RDONLY | O_NOCTTY)
            self.init(file.descriptor, named: quoted(path), file)
        } catch {
            throw .failed("cannot read \(quoted(path)): \(error.text)")
        }
    }

    /// - Parameter file: Closes the descriptor; nil if it is not this value's.
    fileprivate init(_ descriptor: Descriptor, named name: String, _ file: consuming OpenFile? = nil) {
        (self.name, self.descriptor) = (name, descriptor)
        self.file = file
        start = descriptor.regularFileSize == nil ? nil : lseek(descriptor.number, 0, SEEK_CUR)
    }

    /// The number of bytes to read; nil if the file can be read only once.
    package var size: Int? {
        guard let start, let size = descriptor.regularFileSize else { return nil }
        return max(0, size - Int(start))
    }

    /// Returns to the first offset; the file must have a size.
    package func rewind() throws(Failure) {
        guard let start, lseek(descriptor.number, start, SEEK_SET) == start else { throw failure(.last) }
    }

    /// Reads the rest of the file; more than `limit` bytes are refused with exit 65.
    package func read(limit: Int) throws(Failure) -> ContiguousArray<UInt8> {
        // One byte more than expected, so that the end of the input is found without growing.
        var bytes = ContiguousArray<UInt8>(repeating: 0, count: min(descriptor.regularFileSize ?? 16_383, limit) + 1)
        var filled = 0
        while true {
            let count = try readSome(into: &bytes, from: filled)
            if count == 0 { break }
            filled += count
            if filled > limit { throw .refused("\(name) is longer than \(limit) bytes") }
            if filled == bytes.count {
                bytes.append(contentsOf: repeatElement(0, count: min(filled, limit + 1 - filled)))
            }
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    private func readSome(into bytes: inout ContiguousArray<UInt8>, from start: Int) throws(Failure) -> Int {
        do throws(SystemError) {
            var span = bytes.mutableSpan
            return try descriptor.readSome(into: &span, from: start)
        } catch {
            throw failure(error)
        }
    }

    /// Calls `body` with every piece, up to the end of the file.
    package func forEachPiece(_ body: (Span<UInt8>) throws -> Void) throws {
        var piece = ContiguousArray<UInt8>(repeating: 0, count: Self.pieceLength)
        while true {
            let count = try readSome(into: &piece, from: 0)
            if count == 0 { return }
            try body(piece.span.extracting(0..<count))
        }
    }

    fileprivate func failure(_ error: SystemError) -> Failure {
        .failed("cannot read \(name): \(error.text)")
    }
}
