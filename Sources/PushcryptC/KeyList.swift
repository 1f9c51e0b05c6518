internal import Pushcrypt

/// A caller's list of secret keys: one per line, optionally followed by a space and the last moment at which the key is used.
@safe struct KeyList {
    private typealias Line = (number: Int, text: Slice<UnsafeBufferPointer<UInt8>>)

    private let lines: [Line]
    private let name: String

    /// Creates a list from a text, which must outlive it; throws if it has no key.
    init(_ start: UnsafePointer<CChar>?, _ name: String) throws(CallError) {
        let texts = try unsafe text(start, name).split(separator: UInt8(ascii: "\n"))
        guard unsafe !texts.isEmpty else { throw .invalid("\(name) has no key") }
        unsafe lines = unsafe zip(1..., texts).map { unsafe ($0, $1) }
        self.name = name
    }

    /// Reads each key with `read`; returns the keys with their ends.
    func keys<Key>(
        _ read: (Span<UInt8>) throws(KeyError) -> Key
    ) throws(CallError) -> [(key: Key, until: Timestamp?)] {
        var keys: [(Key, Timestamp?)] = []
        for index in unsafe lines.indices {
            let place = unsafe "key \(lines[index].number) of \(name)"
            let line = unsafe UnsafeBufferPointer(rebasing: lines[index].text)
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

    /// Parses decimal digits.
    private func moment(_ digits: UnsafeBufferPointer<UInt8>, _ place: String) throws(CallError) -> Timestamp {
        guard unsafe digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let milliseconds = unsafe UInt64(String(decoding: digits, as: UTF8.self))
        else {
            throw .invalid(
                "\(place): the key may be followed only by one space and a number of milliseconds since 1970")
        }
        return Timestamp(milliseconds: milliseconds)
    }
}
