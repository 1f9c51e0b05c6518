internal import Pushcrypt

/// A list of keys as a caller gives it: one a line, and behind a space perhaps the last moment at which it is used.
@safe struct KeyList {
    private let lines: [Slice<UnsafeBufferPointer<UInt8>>]
    private let name: String

    /// Creates a list over a text, which must outlive it; throws for one without a key.
    init(_ start: UnsafePointer<CChar>?, _ name: String) throws(CallError) {
        unsafe lines = try unsafe text(start, name).split(separator: UInt8(ascii: "\n"))
        guard unsafe !lines.isEmpty else { throw .invalid("\(name) has no key") }
        self.name = name
    }

    /// Reads each key with `read`, and gives it with its end.
    func keys<Key>(
        _ read: (Span<UInt8>) throws(KeyError) -> Key
    ) throws(CallError) -> [(key: Key, until: Timestamp?)] {
        var keys: [(Key, Timestamp?)] = []
        for index in unsafe lines.indices {
            let place = "key \(index + 1) of \(name)"
            let line = unsafe UnsafeBufferPointer(rebasing: lines[index])
            let end = unsafe line.firstIndex(of: UInt8(ascii: " ")) ?? line.endIndex
            let text = unsafe UnsafeBufferPointer(rebasing: line[..<end])
            let until =
                unsafe end == line.endIndex ? nil : try moment(UnsafeBufferPointer(rebasing: line[(end + 1)...]), place)
            do throws(KeyError) {
                keys.append((try unsafe read(text.span), until))
            } catch {
                throw CallError(error, in: place)
            }
        }
        return keys
    }

    /// Reads decimal digits.
    private func moment(_ digits: UnsafeBufferPointer<UInt8>, _ place: String) throws(CallError) -> Timestamp {
        // The overlap of a rotation may end at the last moment that there is.
        guard unsafe digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let milliseconds = unsafe UInt64(String(decoding: digits, as: UTF8.self))
        else {
            throw .invalid(
                "\(place): behind the key and one space stands a number of milliseconds since 1970, or nothing")
        }
        return Timestamp(milliseconds: milliseconds)
    }
}
