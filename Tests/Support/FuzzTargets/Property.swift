import Glibc
import Pushcrypt

/// Ends the process unless the property holds, so that libFuzzer keeps the input.
func require(_ holds: @autoclosure () -> Bool, _ property: @autoclosure () -> String) {
    if !holds() { fail(property()) }
}

/// Ends the process because a property does not hold.
func fail(_ property: String) -> Never {
    say("fault: \(property)")
    abort()
}

/// Writes a line to standard error, past every buffer.
func say(_ text: String) {
    let line = Bytes("\(text)\n".utf8)
    unsafe line.withUnsafeBytes { _ = unsafe write(2, $0.baseAddress, $0.count) }
}

extension ContiguousArray<UInt8> {
    /// Whether these bytes begin with `part`; by a call, because libFuzzer would watch each comparison of a loop.
    func begins(with part: Bytes) -> Bool {
        guard part.count <= count else { return false }
        return unsafe withUnsafeBytes { whole in
            unsafe part.withUnsafeBytes { part in
                guard let a = whole.baseAddress, let b = part.baseAddress else { return true }
                return unsafe memcmp(a, b, part.count) == 0
            }
        }
    }

    /// Whether `part` stands somewhere in these bytes.
    func contains(_ part: Bytes) -> Bool {
        guard let first = part.first else { return true }
        var rest = self[...]
        while let start = rest.firstIndex(of: first) {
            if self[start...].starts(with: part) { return true }
            rest = self[(start + 1)...]
        }
        return false
    }
}
