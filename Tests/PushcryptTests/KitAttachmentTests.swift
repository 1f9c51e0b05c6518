import Testing
import VectorKit

@testable import Pushcrypt

/// `Tests/Data/Vectors/kit`: sealed files, references to them, and lists of references. (`Docs/FormatFiles.md`)
@Suite struct KitAttachmentTests {
    /// In one piece; `AttachmentOpenerTests` has the others.
    @Test(.vectors("kit/attachments"), arguments: try KitGroup.attachments.vectors())
    func aSealedFileOpensOrNot(_ vector: KitVector) throws {
        let file = try KitSealedFile(vector)
        let (plain, code) = file.opened(inPiecesOf: [max(1, file.sealed.count)])
        #expect(code?.description ?? "opened" == vector.expect)
        guard vector.expect == "opened" else { return }
        #expect(try plain.count == vector.number("plain-size"))
        #expect(try SHA256.digest(plain.span) == vector.bytes("plain-sha256"))
    }

    @Test(.vectors("kit/references"), arguments: try KitGroup.references.vectors())
    func aReferenceIsAcceptedOrNot(_ vector: KitVector) throws {
        do throws(AttachmentError) {
            let reference = try AttachmentReference(json: vector.body)
            #expect(vector.expect == "accepted")
            #expect(reference.url == vector.optional("url"))
            #expect(reference.type == vector.optional("type"))
            #expect(reference.name == vector.optional("file-name"))
            #expect(String(reference.file.size) == vector.optional("size"))
            #expect(reference.file.sha256.hex == vector.optional("sha256"))
            #expect(reference.file.withKey { Bytes(copying: $0).hex } == vector.optional("key"))
            let again = try AttachmentReference(json: reference.json)
            #expect(again.json == reference.json)
        } catch {
            #expect(error.code.description == vector.expect, "\(error)")
        }
    }

    @Test(.vectors("kit/attachment-lists"), arguments: try KitGroup.attachmentLists.vectors())
    func aBadAttachmentDropsItselfOnly(_ vector: KitVector) throws {
        let root = try JSONDocument(parsing: vector.body).root
        let list = AttachmentList(of: root)
        var dropped = list.dropped
        var fullBody: AttachmentReference?
        do throws(AttachmentError) { fullBody = try FullBody.reference(in: root) } catch { dropped.append(error) }
        #expect(list.accepted.map(\.name) == vector.all("attachment"))
        #expect(fullBody?.url == vector.optional("full-body"))
        #expect(dropped.map(\.code.description) == vector.all("dropped"))
    }

    @Test(.vectors("kit/reserved"), arguments: try KitGroup.reserved.vectors())
    func theReservedMemberIsReadAlike(_ vector: KitVector) throws {
        let root = try JSONDocument(parsing: vector.body).root
        let withdrawal = Withdrawal(in: root, of: MessageID(callerName: "its own"))
        #expect(withdrawal.messages.map(\.description) == vector.all("withdraws"))
        #expect(withdrawal.isDropped == (vector.optional("drop") == "yes"))
        let (sender, dropped) = CommunicationSender.read(root)
        #expect(sender?.name == vector.optional("sender-name"))
        #expect(sender?.handle == vector.optional("handle"))
        #expect(sender?.conversation == vector.optional("conversation"))
        #expect(sender?.recipients ?? [] == vector.all("recipient"))
        #expect(sender?.avatar?.url == vector.optional("avatar"))
        #expect(dropped.map(\.code.description) == vector.all("dropped"))
    }

    @Test(.vectors("kit/full-bodies"), arguments: try KitGroup.fullBodies.vectors())
    func aPlainFileIsATextOrNot(_ vector: KitVector) throws {
        do throws(AttachmentError) {
            let text = try FullBody.text(vector.body)
            #expect(vector.expect == "accepted")
            #expect(Bytes(text.utf8) == vector.body)
        } catch {
            #expect(error.code.description == vector.expect, "\(error)")
        }
    }
}

/// A sealed file of the kit, and what its reference says of it.
struct KitSealedFile {
    let file: SealedFile
    let sealed: Bytes

    init(_ vector: KitVector) throws {
        let key = try vector.bytes("key")
        file = SealedFile(
            key: Ephemeral(copying: key.span), size: try vector.number("size"), sha256: try vector.bytes("sha256"))
        sealed = vector.body
    }

    /// The file of this name.
    init(named name: String) throws {
        try self.init(#require(try KitGroup.attachments.vectors().first { $0.path == "attachments/\(name)" }))
    }

    /// Opens the file in pieces of these sizes, over and over: what was given out, and the code of what was thrown.
    func opened(inPiecesOf sizes: [Int]) -> (plain: Bytes, code: AttachmentError.Code?) {
        var plain = Bytes()
        do throws(AttachmentError) {
            var opener = AttachmentOpener(file)
            var (position, number) = (0, 0)
            while position < sealed.count {
                let end = min(sealed.count, position + sizes[number % sizes.count])
                try opener.open(sealed.span.extracting(position..<end), into: &plain)
                (position, number) = (end, number + 1)
            }
            try opener.finish(into: &plain)
            return (plain, nil)
        } catch {
            return (plain, error.code)
        }
    }
}
