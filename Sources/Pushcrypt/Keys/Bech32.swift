/// The text form of keys: Bech32 with the checksum of BIP-173, but without its limit of 90 characters.
///
/// The checksum's guarantee ends at 1,023 characters. A public key of suite 2 has more, and the key id in its record
/// checks it again.
///
/// Public keys are in lower case and secret keys in upper case, so that people, log filters and secret scanners can
/// distinguish them. (`Docs/Format.md`, Keys as text)
enum Bech32 {
    /// The seven kinds of key text.
    enum Kind: CaseIterable {
        case devicePublic
        case postQuantumPublic
        case providerPublic
        case deviceSecret
        case postQuantumSecret
        case providerSecret
        case signingSecret

        /// The part before the separator `1`.
        var prefix: StaticString {
            switch self {
            case .devicePublic: "pcr"
            case .postQuantumPublic: "pcrx"
            case .providerPublic: "pcs"
            case .deviceSecret: "PCR-SECRET-"
            case .postQuantumSecret: "PCRX-SECRET-"
            case .providerSecret: "PCS-SECRET-"
            case .signingSecret: "PCK-SECRET-"
            }
        }

        var isUpperCase: Bool {
            switch self {
            case .devicePublic, .postQuantumPublic, .providerPublic: false
            case .deviceSecret, .postQuantumSecret, .providerSecret, .signingSecret: true
            }
        }

        var name: String {
            switch self {
            case .devicePublic: "a device's public key (pcr1…)"
            case .postQuantumPublic: "a device's post-quantum public key (pcrx1…)"
            case .providerPublic: "a provider's public key (pcs1…)"
            case .deviceSecret: "a device's secret key (PCR-SECRET-1…)"
            case .postQuantumSecret: "a device's post-quantum secret key (PCRX-SECRET-1…)"
            case .providerSecret: "a provider's secret key (PCS-SECRET-1…)"
            case .signingSecret: "a signing key's secret (PCK-SECRET-1…)"
            }
        }

        /// The length of the key in bytes.
        var keyLength: Int { self == .postQuantumPublic ? CipherSuite.xwing.publicKeyLength : 32 }

        var textLength: Int { prefix.utf8CodeUnitCount + 1 + Bech32.symbols(for: keyLength) + checksumLength }
    }

    private static let checksumLength = 6
    private static let alphabet: StaticString = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
    private static let secretAlphabet: StaticString = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"

    /// The symbol of each ASCII character, with 0x40 added; `!` for others.
    private static let symbolTable: StaticString =
        "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!O!JQUTZ^GE!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!]!XMYIHW!RV_[S!A@CPK\\LNFDB!!!!!"

    private static func symbols(for bytes: Int) -> Int { (bytes * 8 + 4) / 5 }

    // MARK: Writing

    /// Returns the text of `key`, which is as secret as the key.
    static func encode(_ key: Span<UInt8>, as kind: Kind) -> Ephemeral {
        precondition(key.count == kind.keyLength)
        var text = Ephemeral(count: kind.textLength)
        text.withMutableBytes { output in
            var position = 0
            func put(_ byte: UInt8, _ output: inout MutableBytes) {
                output[position] = byte
                position += 1
            }
            for index in 0..<kind.prefix.utf8CodeUnitCount { put(unsafe kind.prefix.utf8Start[index], &output) }
            put(UInt8(ascii: "1"), &output)

            var checksum = Checksum(kind)
            func put(symbol: UInt8, _ output: inout MutableBytes) {
                put(kind.isUpperCase ? secretLetter(of: symbol) : unsafe alphabet.utf8Start[Int(symbol)], &output)
            }
            var buffer: UInt32 = 0
            var bits = 0
            for index in key.indices {
                buffer = (buffer << 8 | UInt32(key[index])) & 0xfff
                bits += 8
                while bits >= 5 {
                    bits -= 5
                    let symbol = UInt8(buffer >> UInt32(bits) & 31)
                    checksum.update(symbol)
                    put(symbol: symbol, &output)
                }
            }
            if bits > 0 {
                let symbol = UInt8(buffer << UInt32(5 - bits) & 31)
                checksum.update(symbol)
                put(symbol: symbol, &output)
            }
            let sum = checksum.finish()
            for index in 0..<checksumLength {
                put(symbol: UInt8(sum >> UInt32(5 * (checksumLength - 1 - index)) & 31), &output)
            }
        }
        return text
    }

    /// Returns the text of a public key.
    static func string(_ key: Span<UInt8>, as kind: Kind) -> String {
        encode(key, as: kind).withSpan { String(decoding: ContiguousArray(copying: $0), as: UTF8.self) }
    }

    // MARK: Reading

    /// Parses the bytes of a key. A trailing newline is allowed; any other extra byte is an error.
    static func decode(_ text: Span<UInt8>, as kind: Kind) throws(KeyError) -> Ephemeral {
        var text = text
        if !text.isEmpty, text[text.count - 1] == UInt8(ascii: "\n") { text = text.extracting(0..<text.count - 1) }
        guard hasPrefix(of: kind, text) else {
            if let other = Self.kind(of: text) {
                throw KeyError(.wrongKind, "this is \(other.name); \(kind.name) is needed here")
            }
            throw KeyError(.malformedKey, "this is not the text of a key; \(kind.name) is needed here")
        }
        guard text.count == kind.textLength else {
            throw KeyError(
                .malformedKey,
                "the text of this kind of key has \(kind.textLength) characters, this has \(text.count); copy all of it, without spaces"
            )
        }
        let start = kind.prefix.utf8CodeUnitCount + 1
        var key = Ephemeral(count: kind.keyLength)
        var checksum = Checksum(kind)
        try key.withMutableBytes { (output) throws(KeyError) in
            // Eight symbols are five bytes.
            let (isSecret, end) = (kind.isUpperCase, text.count - checksumLength)
            var (index, position) = (start, 0)
            while index + 8 <= end {
                let eight = try symbols(text, index..<index + 8, isSecret: isSecret)
                checksum.update(four: UInt32(eight >> 20))
                checksum.update(four: UInt32(eight & 0xf_ffff))
                for shift in stride(from: 32, through: 0, by: -8) {
                    output[position] = UInt8(truncatingIfNeeded: eight >> UInt64(shift))
                    position += 1
                }
                index += 8
            }
            // The rest has fewer than eight, and up to seven bits that no byte uses.
            let rest = try symbols(text, index..<end, isSecret: isSecret)
            var bits = 5 * (end - index)
            checksum.update(rest, bits: bits)
            while bits >= 8 {
                bits -= 8
                output[position] = UInt8(truncatingIfNeeded: rest >> UInt64(bits))
                position += 1
            }
            let sum = try symbols(text, end..<text.count, isSecret: isSecret)
            checksum.update(sum, bits: 5 * checksumLength)
            guard checksum.isValid else {
                throw KeyError(.wrongChecksum, "the key was mistyped or cut: its checksum is wrong; copy it again")
            }
            guard rest & (1 << UInt64(bits) - 1) == 0 else {
                throw KeyError(.malformedKey, "the unused bits of the key are not zero: pushcrypt did not write it")
            }
        }
        return key
    }

    /// Returns the kind of the post-quantum key if a text begins like it, otherwise the other.
    static func kind(of text: Span<UInt8>, _ kind: Kind, or postQuantum: Kind) -> Kind {
        hasPrefix(of: postQuantum, text) ? postQuantum : kind
    }

    /// Returns the kind of key that a text begins like.
    static func kind(of text: Span<UInt8>) -> Kind? { Kind.allCases.first { hasPrefix(of: $0, text) } }

    private static func hasPrefix(of kind: Kind, _ text: Span<UInt8>) -> Bool {
        let count = kind.prefix.utf8CodeUnitCount
        guard text.count > count, text[count] == UInt8(ascii: "1") else { return false }
        for index in 0..<count where unsafe text[index] != kind.prefix.utf8Start[index] { return false }
        return true
    }

    /// Returns the bits of at most eight characters.
    @inline(__always)
    private static func symbols(_ text: Span<UInt8>, _ range: Range<Int>, isSecret: Bool) throws(KeyError) -> UInt64 {
        let text = text.extracting(range)
        var (symbols, all) = (UInt64(0), UInt8(0x40))
        func append(_ symbol: UInt8) {
            symbols = symbols << 5 | UInt64(symbol & 31)
            all &= symbol
        }
        // Two loops, because the compiler unrolls only the second.
        if isSecret {
            for index in text.indices { append(secretSymbol(of: text[index])) }
        } else {
            for index in text.indices { append(publicSymbol(of: text[index])) }
        }
        if all != 0 { return symbols }
        var first = 0
        while (isSecret ? secretSymbol(of: text[first]) : publicSymbol(of: text[first])) & 0x40 != 0 { first += 1 }
        throw KeyError(
            .malformedKey,
            "character \(range.lowerBound + first + 1) is not allowed in a key; this kind of key is all \(isSecret ? "upper" : "lower") case, without spaces"
        )
    }

    /// Returns the symbol of a character, with 0x40 added, or a number without this bit.
    @inline(__always)
    private static func publicSymbol(of character: UInt8) -> UInt8 {
        unsafe symbolTable.utf8Start[Int(character & 0x7f)] & ~(character >> 1 & 0x40)
    }

    /// Returns the letter of a secret's symbol. Nothing of a secret becomes an address or a branch.
    private static func secretLetter(of symbol: UInt8) -> UInt8 {
        var letter: UInt32 = 0
        for index in 0..<32 {
            letter |= UInt32(unsafe secretAlphabet.utf8Start[index]) & (UInt32(symbol ^ UInt8(index)) &- 1) >> 8
        }
        return UInt8(truncatingIfNeeded: letter)
    }

    /// Returns the same for a character of a secret, in upper case. Nothing of a secret becomes an address or a branch.
    @inline(never)
    private static func secretSymbol(of character: UInt8) -> UInt8 {
        var symbol: UInt32 = 0
        for index in 0..<32 {
            let letter = unsafe secretAlphabet.utf8Start[index]
            symbol |= UInt32(index | 0x40) & (UInt32(character ^ letter) &- 1) >> 8
        }
        return UInt8(truncatingIfNeeded: symbol)
    }

    /// The checksum of BIP-173 over the lower-case prefix and the symbols.
    private struct Checksum {
        /// The addition of ten bits that leave the state, two symbols and four symbols after they were the highest: for the long
        /// public key alone, because it takes time to make, and a secret must not become an address.
        private static let feedback = ContiguousArray(
            [2, 4].flatMap { symbols in
                (UInt32(0)..<1024).map { bits in
                    var checksum = Checksum(state: bits << 20)
                    for _ in 0..<symbols { checksum.update(0) }
                    return checksum.state
                }
            })

        private var state: UInt32
        private let feedback: ContiguousArray<UInt32>

        private init(state: UInt32) {
            self.state = state
            feedback = []
        }

        init(_ kind: Kind) {
            state = 1
            feedback = kind == .postQuantumPublic ? Self.feedback : []
            func lower(_ index: Int) -> UInt8 {
                let byte = unsafe kind.prefix.utf8Start[index]
                return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 0x20 : byte
            }
            for index in 0..<kind.prefix.utf8CodeUnitCount { update(lower(index) >> 5) }
            update(0)
            for index in 0..<kind.prefix.utf8CodeUnitCount { update(lower(index) & 31) }
        }

        mutating func update(_ symbol: UInt8) {
            let top = state >> 25
            state = (state & 0x1ff_ffff) << 5 ^ UInt32(symbol)
            // Not branches, which no processor could predict.
            state ^= (0 &- (top & 1)) & 0x3b6a_57b2 ^ (0 &- (top >> 1 & 1)) & 0x2650_8e6d
            state ^= (0 &- (top >> 2 & 1)) & 0x1ea1_19fa ^ (0 &- (top >> 3 & 1)) & 0x3d42_33dd
            state ^= (0 &- (top >> 4)) & 0x2a14_62b3
        }

        mutating func update(_ symbols: UInt64, bits: Int) {
            for shift in stride(from: bits - 5, through: 0, by: -5) { update(UInt8(symbols >> UInt64(shift) & 31)) }
        }

        /// Takes four symbols, twenty bits.
        @inline(__always)
        mutating func update(four: UInt32) {
            if feedback.isEmpty {
                update(UInt64(four), bits: 20)
            } else {
                let added = feedback[Int(1024 + state >> 20)] ^ feedback[Int(state >> 10 & 0x3ff)]
                state = (state & 0x3ff) << 20 ^ four ^ added
            }
        }

        /// The six symbols that make the checksum valid, as a 30-bit number.
        mutating func finish() -> UInt32 {
            for _ in 0..<checksumLength { update(0) }
            return state ^ 1
        }

        var isValid: Bool { state == 1 }
    }
}
