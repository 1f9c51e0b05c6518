import Testing

@testable import Pushcrypt

/// Two passes over a file: what must be equal in both, and what they give. The bytes are in `AttachmentVectorTests`.
@Suite struct AttachmentSealerTests {
    /// Seals `second` after `first` was measured, in pieces of these sizes.
    private static func seal(
        _ first: Bytes, then second: Bytes? = nil, by provider: UInt8 = 101, inPiecesOf sizes: [Int] = [.max]
    ) throws -> (sealed: Bytes, file: SealedFile) {
        var pass = AttachmentSealer.FirstPass()
        pass.update(first.span)
        var sealer = pass.sealer(EnvelopeSigner(try FormatFixture.provider(provider)))
        let plain = second ?? first
        var sealed = Bytes()
        var (position, number) = (0, 0)
        while position < plain.count {
            let count = min(plain.count - position, sizes[number % sizes.count])
            try sealer.seal(plain.span.extracting(position..<position + count), into: &sealed)
            (position, number) = (position + count, number + 1)
        }
        let file = try sealer.finish(into: &sealed)
        return (sealed, file)
    }

    /// The code of what ending a sealed file throws, or nil.
    private static func refusal(toFinish sealer: consuming AttachmentSealer, into sealed: inout Bytes)
        -> AttachmentError.Code?
    {
        do throws(AttachmentError) {
            _ = try sealer.finish(into: &sealed)
            return nil
        } catch {
            return error.code
        }
    }

    private static func pattern(_ count: Int) -> Bytes { Bytes((0..<count).map { UInt8(truncatingIfNeeded: $0 * 31) }) }

    /// A sealed file has the length that the format says, whatever the pieces were.
    @Test(arguments: [
        (0, 21), (1, 22), (65_535, 65_556), (65_536, 65_557), (65_537, 65_574), (131_072, 131_109), (131_073, 131_126),
    ])
    func theLengthIsThatOfTheHeaderAndTheChunks(_ plain: Int, _ sealed: Int) throws {
        for sizes in [[.max], [1000], [65_536], [65_537], [1, 65_536, 0, 7]] {
            let result = try Self.seal(Self.pattern(plain), inPiecesOf: sizes)
            #expect(result.sealed.count == sealed)
            #expect(result.file.size == UInt64(sealed))
            #expect(result.file.sha256 == SHA256.digest(result.sealed.span))
        }
    }

    @Test(
        arguments: [
            ("one byte changed at the beginning", 200_000, [0: 1]),
            ("one byte changed at the end", 200_000, [199_999: 1]),
            ("a byte appended", 200_001, [:]), ("the last byte gone", 199_999, [:]), ("emptied", 0, [:]),
        ] as [(String, Int, [Int: UInt8])])
    func aFileThatChangesBetweenThePassesIsRefused(_ change: String, _ count: Int, _ edits: [Int: UInt8]) {
        var second = Self.pattern(count)
        for (position, mask) in edits { second[position] ^= mask }
        let error = #expect(throws: AttachmentError.self, "\(change)") {
            try Self.seal(Self.pattern(200_000), then: second, inPiecesOf: [4096])
        }
        #expect(error?.code == .changedFile)
    }

    /// Bytes beyond the first pass are refused as they come, and not only at the end of a file that never ends.
    @Test func aFileThatGrowsIsRefusedAtOnce() throws {
        let (plain, more) = (Self.pattern(10), Self.pattern(1))
        var pass = AttachmentSealer.FirstPass()
        pass.update(plain.span)
        var sealer = pass.sealer(EnvelopeSigner(try FormatFixture.provider(101)))
        var sealed = Bytes()
        try sealer.seal(plain.span, into: &sealed)
        #expect(throws: AttachmentError.self) { try sealer.seal(more.span, into: &sealed) }
        #expect(throws: AttachmentError.self) { try sealer.seal(more.span, into: &sealed) }
        #expect(Self.refusal(toFinish: sealer, into: &sealed) == .changedFile)
        #expect(sealed.isEmpty)
    }

    /// Output written before a change was noticed has no end, so it opens nowhere.
    @Test func whatWasSealedBeforeAChangeHasNoEnd() throws {
        let (before, after) = (Self.pattern(65_536) + [1], Self.pattern(65_536) + [2])
        let random = Bytes(repeating: 0, count: 32)
        let provider = try FormatFixture.provider(101)
        var pass = AttachmentSealer.FirstPass()
        pass.update(before.span)
        var sealer = pass.sealer(EnvelopeSigner(provider), random: Ephemeral(copying: random.span))
        var sealed = Bytes()
        try sealer.seal(after.span, into: &sealed)
        #expect(Self.refusal(toFinish: sealer, into: &sealed) == .changedFile)

        let key = EnvelopeSigner(provider).fileKey(
            for: .init(length: 65_537, sha256: SHA256.digest(before.span)), random: Ephemeral(copying: random.span))
        let file = SealedFile(key: key, size: UInt64(sealed.count), sha256: SHA256.digest(sealed.span))
        var opened = Bytes()
        var code: AttachmentError.Code?
        do throws(AttachmentError) {
            var opener = AttachmentOpener(file)
            try opener.open(sealed.span, into: &opened)
            try opener.finish(into: &opened)
        } catch {
            code = error.code
        }
        #expect(sealed.count == 5 + 65_552 && opened.isEmpty)
        #expect(code == .authenticationFailed)
    }

    /// Not even a random source that has died gives two files, or two providers, one key.
    @Test func theKeyDependsOnTheFileAndOnTheProvider() throws {
        func key(_ plain: Bytes, _ provider: UInt8, random: UInt8 = 0) throws -> Bytes {
            let random = Bytes(repeating: random, count: 32)
            return EnvelopeSigner(try FormatFixture.provider(provider)).fileKey(
                for: .init(length: UInt64(plain.count), sha256: SHA256.digest(plain.span)),
                random: Ephemeral(copying: random.span)
            ).bytes
        }
        let keys = try [key([], 1), key([0], 1), key([1], 1), key([0], 2), key([0], 1, random: 1)]
        #expect(Set(keys).count == keys.count)
        #expect(try key([0], 1) == keys[1])
    }

    /// With a living one, the same file has another key and other bytes each time.
    @Test func noKeyIsUsedTwice() throws {
        let files = try (0..<3).map { _ in try Self.seal(Self.pattern(100)) }
        #expect(Set(files.map { $0.file.withKey { Bytes(copying: $0) } }).count == 3)
        #expect(Set(files.map(\.sealed)).count == 3)
    }
}
