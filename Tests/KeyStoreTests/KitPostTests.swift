import Pushcrypt
import Testing
import VectorKit

@testable import PushcryptKeyStore

/// `Tests/Data/Vectors/kit/posts`: what phones post to a provider, one after another, and what it has then.
/// (`Docs/FormatRecords.md`, D-14 to D-40)
@Suite struct KitPostTests {
    @Test func postsAreTakenOrRefusedAsTheKitSays() throws {
        let supported = CipherSuite.supported.map { "\($0.rawValue)" }.joined(separator: " ")
        let all = try KitGroup.posts.vectors()
        let vectors = all.filter { $0.optional("seals") ?? supported == supported }
        for vector in vectors { try check(vector) }
        print("vectors: kit/posts: \(vectors.count)")
        if vectors.count < all.count {
            print("SKIPPED: kit/posts: \(all.count - vectors.count) tests need another libsodium than this")
        }
    }

    private func check(_ vector: KitVector) throws {
        let seed = try vector.bytes("provider-seed")
        let provider = try ProviderKey(seed: seed.span)
        let topic = try Topic(vector.one("context"))
        let store = try SQLiteKeyStore.inMemory()
        _ = try store.importProviderKey(provider, named: "kit", topic: topic, at: start)
        var last = PostOutcome("none")
        for line in try vector.text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 4).map(String.init)
            let now = Timestamp(milliseconds: try #require(UInt64(words[0])))
            switch words[1] {
            case "removed-by-apns":
                #expect(try store.removeDevices([LostDevice(id: words[2], at: now)], at: now).removed == 1, "\(vector)")
            case "removed-by-operator": #expect(try store.removeDevice(id: words[2], at: now), "\(vector)")
            default:
                let owner: DeviceOwner = words[2] == "-" ? .unchanged : .user(words[2])
                last = try outcome(of: ContiguousArray(words[4].utf8), words[1], owner, store, at: now)
                #expect(last.name == words[3], "\(vector)")
            }
        }
        #expect(last.name == vector.expect, "\(vector)")
        #expect(last.foreign == vector.all("foreign"), "\(vector)")
        let known = try store.read { (store) throws(KeyStoreError) in try store.held(vector.optional("id") ?? "") }
        #expect(known?.device?.publicKey.description == vector.optional("key-after"), "\(vector)")
        #expect(known?.removed.map(why) == vector.optional("removed-after"), "\(vector)")
        #expect(known?.signing.updateKey?.bytes.hex == vector.optional("update-key-after"), "\(vector)")
        #expect(known.map { String($0.signing.sequence) } == vector.optional("sequence-after"), "\(vector)")
        #expect(known?.user == vector.optional("user-after"), "\(vector)")
        #expect(known?.device?.grant == vector.optional("grant-after"), "\(vector)")
    }

    private func why(_ removed: RemovedDevice) -> String {
        if removed.isLost { return "apns" }
        if removed.reason == "key-moved" { return "key-moved" }
        return removed.signing.sequence == DeviceEnd.sequence ? "ended" : "operator"
    }

    private func outcome(
        of post: ContiguousArray<UInt8>, _ channel: String, _ owner: DeviceOwner, _ store: SQLiteKeyStore,
        at now: Timestamp
    ) throws -> PostOutcome {
        do {
            if channel == "bare" {
                let record = try DeviceRegistration(json: post)
                let id = try #require(record.deviceID)
                return PostOutcome("\(try store.addDevice(record, id: id, owner: owner, at: now))")
            }
            let answer = try #require(try store.accept(post, session: channel == "session" ? owner : nil, at: now))
            let foreign = answer.foreign.map(\.description)
            return switch answer.event {
            case .registered(_, let outcome): PostOutcome("\(outcome)", foreign: foreign)
            case .ended: PostOutcome("ended")
            case .hello: PostOutcome("hello")
            case .refused(let refusal, _): PostOutcome(refusal.description)
            case .paired, .repeated, .answer: PostOutcome("another kind of post")
            }
        } catch let error as KeyError {
            return PostOutcome(error.code.description)
        } catch let error as KeyStoreError {
            return PostOutcome(error.code.description)
        }
    }
}

private struct PostOutcome {
    let name: String
    let foreign: [String]

    init(_ name: String, foreign: [String] = []) { (self.name, self.foreign) = (name, foreign) }
}
