/// An `https` or `http` address, as far as a rule looks at it.
package struct WebAddress: Hashable, Sendable {
    /// Whether it begins with `https`.
    package let isSecure: Bool
    /// The host in lower case; an IPv6 address without its brackets.
    package let host: String
    /// The port, if the text names one.
    package let port: UInt16?
    /// The path and query, after host and port.
    package let rest: Substring
    /// The text that was parsed.
    package let text: String

    /// Parses an address of visible ASCII characters; returns nil for anything else, and for one with a user or a fragment.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }), !text.contains("#") else {
            return nil
        }
        let start: Substring
        if text.hasPrefix("https://") {
            (isSecure, start) = (true, text.dropFirst(8))
        } else if text.hasPrefix("http://") {
            (isSecure, start) = (false, text.dropFirst(7))
        } else {
            return nil
        }
        let authority = start.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else { return nil }
        rest = start[authority.endIndex...]
        var name = authority
        var number: UInt16?
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            let digits = authority[authority.index(after: colon)...]
            guard digits.utf8.allSatisfy(\.isDigit), let value = UInt16(digits), value > 0 else { return nil }
            (name, number) = (authority[..<colon], value)
        }
        if name.hasPrefix("["), name.hasSuffix("]") {
            guard IPv6Address(name.dropFirst().dropLast()) != nil else { return nil }
            name = name.dropFirst().dropLast()
        } else {
            guard !name.isEmpty, name.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == 0x2D || $0 == 0x2E }) else {
                return nil
            }
        }
        host = name.lowercased()
        port = number
        self.text = text
    }

    /// Whether it is `https`, or the host is this machine or an address of a private network.
    package var isProtected: Bool { isSecure || isPrivate }

    /// Whether it is protected, or the host is a name or an address of a home. In another network that may be a stranger's, so a
    /// phone says hello first. [P-2] [P-11]
    package var isOfServer: Bool {
        isProtected || host == "fritz.box" || Self.homes.contains(where: isBelow)
            || ipv4.map { $0[0] == 100 && (64...127).contains($0[1]) } ?? false
    }

    /// The ends of names that are used in homes.
    private static let homes = [".local", ".home.arpa", ".internal", ".lan", ".ts.net", ".fritz.box"]

    private func isBelow(_ home: String) -> Bool {
        host.hasSuffix(home) && host.dropLast(home.count).last.map { $0 != "." } ?? false
    }

    /// Whether the host is a private, link-local or loopback address, or `localhost`. A name may lead anywhere.
    private var isPrivate: Bool {
        if host == "localhost" { return true }
        if let address = IPv6Address(host[...]) { return address.isPrivate }
        return switch ipv4.map({ ($0[0], $0[1]) }) {
        case (10, _)?, (127, _)?, (192, 168)?, (169, 254)?, (172, 16...31)?: true
        default: false
        }
    }

    /// The four bytes of an IPv4 address.
    private var ipv4: [UInt8]? {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part in
            // Other spellings of a number are names here, whatever a resolver makes of them.
            (1...3).contains(part.utf8.count) && part.utf8.allSatisfy(\.isDigit)
                && (part.utf8.count == 1 || part.first != "0")
                ? UInt8(part) : nil
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }
}

/// An IPv6 address in text, without a zone and without a dotted end.
private struct IPv6Address {
    private let groups: [UInt16]

    init?(_ text: Substring) {
        let halves = Self.halves(text)
        let groups = halves.map { half in
            half.isEmpty ? [] : half.split(separator: ":", omittingEmptySubsequences: false).map(Self.group)
        }
        let known = groups.joined().compactMap(\.self)
        guard known.count == groups.joined().count, text.contains(":"),
            halves.count == 1 ? known.count == 8 : known.count < 8
        else { return nil }
        let first = groups[0].compactMap(\.self)
        self.groups = first + Array(repeating: 0, count: 8 - known.count) + known.dropFirst(first.count)
    }

    /// The parts before and after `::`.
    private static func halves(_ text: Substring) -> [Substring] {
        for index in text.indices {
            let next = text.index(after: index)
            if next < text.endIndex, text[index] == ":", text[next] == ":" {
                return [text[..<index], text[text.index(after: next)...]]
            }
        }
        return [text]
    }

    private static func group(_ text: Substring) -> UInt16? {
        guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy(\.isLetterOrDigit) else { return nil }
        return UInt16(text, radix: 16)
    }

    var isPrivate: Bool {
        groups == [0, 0, 0, 0, 0, 0, 0, 1] || groups[0] & 0xFFC0 == 0xFE80 || groups[0] & 0xFE00 == 0xFC00
    }
}
