import Testing
import VectorKit

@testable import Pushcrypt

/// An opener that is fed in pieces, and what it has given out when it throws. What it refuses is in
/// `KitAttachmentTests`.
@Suite struct AttachmentOpenerTests {
    /// Sizes around those of the header and of a chunk, and single bytes where that does not take long.
    @Test(arguments: try KitGroup.attachments.vectors())
    func thePiecesDecideNothing(_ vector: KitVector) throws {
        let vector = try KitSealedFile(vector)
        var cuts = [[4], [5], [6], [65_551], [65_552], [65_553], [5, 65_552], [4096], [1, 0, 70_000]]
        if vector.sealed.count < 1000 { cuts.append([1]) }
        let whole = vector.opened(inPiecesOf: [max(1, vector.sealed.count)])
        for sizes in cuts {
            let (plain, code) = vector.opened(inPiecesOf: sizes)
            #expect(code == whole.code, "pieces of \(sizes)")
            #expect(plain == whole.plain, "pieces of \(sizes)")
        }
    }

    /// The last chunk stays inside until everything agrees: of a file of one chunk a failure gives nothing out.
    @Test(arguments: try KitGroup.attachments.vectors().filter { $0.expect != "opened" })
    func aFailureGivesNoLastChunk(_ vector: KitVector) throws {
        let vector = try KitSealedFile(vector)
        let (plain, _) = vector.opened(inPiecesOf: [65_536])
        #expect(plain.count % 65_536 == 0)
        let chunks = max(0, vector.sealed.count - 5) / 65_552
        #expect(plain.count <= chunks * 65_536)
    }

    /// Each piece gives what came before it: nothing is kept but the chunk that is not whole yet.
    @Test func aChunkIsGivenOutAsSoonAsItIsThere() throws {
        let vector = try KitSealedFile(named: "three-chunks-and-a-bit")
        let sealed = vector.sealed
        var opener = AttachmentOpener(vector.file)
        var plain = Bytes()
        for position in sealed.indices {
            try opener.open(sealed.span.extracting(position..<position + 1), into: &plain)
            #expect(plain.count == max(0, position - 4) / 65_552 * 65_536)
        }
        try opener.finish(into: &plain)
        #expect(plain.count == 3 * 65_536 + 100)
    }

    /// A caller that goes on after a failure meets it again, and gets nothing more.
    @Test(
        arguments: [
            ("a-bit-of-the-first-of-two-chunks-flipped", .authenticationFailed),
            ("the-first-of-two-chunks-sealed-as-the-last", .authenticationFailed),
        ] as [(String, AttachmentError.Code)])
    func aFailureStays(_ name: String, _ code: AttachmentError.Code) throws {
        let vector = try KitSealedFile(named: name)
        let sealed = vector.sealed
        var opener = AttachmentOpener(vector.file)
        var plain = Bytes()
        var codes: [AttachmentError.Code] = []
        for range in [0..<65_557, 65_557..<65_600, 65_557..<sealed.count] {
            do throws(AttachmentError) {
                try opener.open(sealed.span.extracting(range), into: &plain)
            } catch {
                codes.append(error.code)
            }
        }
        do throws(AttachmentError) { try opener.finish(into: &plain) } catch { codes.append(error.code) }
        #expect(codes == [code, code, code, code])
        #expect(plain.isEmpty)
    }

    /// A download that does not end is cut at the size, whatever still comes.
    @Test func nothingBeyondTheSizeIsLookedAt() throws {
        let vector = try KitSealedFile(named: "exactly-one-chunk")
        var opener = AttachmentOpener(vector.file)
        var plain = Bytes()
        try opener.open(vector.sealed.span, into: &plain)
        let error = #expect(throws: AttachmentError.self) {
            try opener.open(Bytes(repeating: 0, count: 1_000_000).span, into: &plain)
        }
        #expect(error?.code == .wrongSize)
        #expect(plain.isEmpty)
    }

    /// No piece of no bytes changes anything, not at the start either.
    @Test func piecesOfNoBytesAreNothing() throws {
        let vector = try KitSealedFile(named: "an-empty-file")
        let (plain, code) = vector.opened(inPiecesOf: [0, 1])
        #expect(plain.isEmpty && code == nil)
    }
}
