internal import PushcryptCommandKit

/// What lines are read from.
protocol LineInput {
    /// Reads what is there into the part of `bytes` from `start` on; 0 at the end, nil when no more is wanted.
    mutating func read(into bytes: inout ContiguousArray<UInt8>, from start: Int) throws(CommandFailure) -> Int?
}

/// A descriptor that is read until its end, or until somebody asks for an end.
struct DescriptorInput: LineInput, Sendable {
    let descriptor: Descriptor
    /// The name in messages.
    let name: String
    let stop: StopSignal

    func read(into bytes: inout ContiguousArray<UInt8>, from start: Int) throws(CommandFailure) -> Int? {
        do throws(SystemError) {
            return try unsafe bytes.withUnsafeMutableBufferPointer { buffer throws(SystemError) in
                var span = unsafe buffer.mutableSpan
                return try descriptor.readSome(into: &span, from: start, unless: stop.descriptor)
            }
        } catch {
            throw .failed("cannot read \(name): \(error.text)")
        }
    }
}

extension InputFile {
    /// What is read in chunks of lines, until `stop` is raised; of use for as long as the file is open.
    func lines(until stop: StopSignal) -> DescriptorInput {
        DescriptorInput(descriptor: descriptor, name: name, stop: stop)
    }
}

/// A text that is there already.
struct TextInput: LineInput, Sendable {
    private var rest: ArraySlice<UInt8>

    init(_ text: ContiguousArray<UInt8>) { rest = ArraySlice(text) }

    mutating func read(into bytes: inout ContiguousArray<UInt8>, from start: Int) -> Int? {
        let piece = rest.prefix(bytes.count - start)
        bytes.replaceSubrange(start..<start + piece.count, with: piece)
        rest = rest.dropFirst(piece.count)
        return piece.count
    }
}
