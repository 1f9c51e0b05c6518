import Foundation
import Pushcrypt
import PushcryptKeyStore
import Testing

/// The claims of the API documentation about its examples, which are compiled beside this file.
@Suite(.timeLimit(.minutes(20))) final class CatalogueTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("catalogues-\(UUID())").path
    private let now = Timestamp(secondsSince1970: 1_800_000_000)
    private let payload = #"{"aps":{"alert":{"title":"Table for two","body":"See you at 8"}}}"#

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    @Test func onePushShowsNothingOnItsWayAndAllAtItsEnd() throws {
        let push = try RoundTrip(at: now)
        let json = String(decoding: push.sent.json, as: UTF8.self)
        #expect(json.contains(#""mutable-content":1"#))
        #expect(!json.contains("Table"))
        #expect(push.opened.body == "See you at 8")
        #expect(push.opened.sentAt == now)
    }

    // MARK: Provider

    @Test func aWorkerSendsOrGivesUp() throws {
        let phone = DeviceKey()
        let worker = Worker(sealer: Sealer(provider: ProviderKey(), topic: try Topic("com.example.app")))
        let device = Device(id: "phone1", key: phone.publicKey)
        guard case .send(let request) = worker.step(for: payload.utf8, row: "17", to: device, at: now),
            case .send(let retry) = worker.step(for: payload.utf8, row: "17", to: device, at: now)
        else { throw Unexpected() }
        #expect(request.collapseID == retry.collapseID)
        #expect(request.payload != retry.payload)
        #expect(
            headers(of: request) == [
                "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "10",
                "apns-expiration": "1800003600", "apns-collapse-id": request.collapseID,
            ])
        guard case .drop(let error) = worker.step(for: "{}".utf8, row: "18", to: device, at: now) else {
            throw Unexpected()
        }
        #expect(error.code == .missingAPS)
    }

    @Test func aPictureIsOpenedByItsReference() throws {
        let picture = ContiguousArray((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let sealer = Sealer(provider: ProviderKey(), topic: try Topic("com.example.app"))
        let sealed = try SealedPicture(picture, at: "https://files.example.com/7f3a", by: sealer)
        var opener = AttachmentOpener(sealed.reference.file)
        var plain: ContiguousArray<UInt8> = []
        try opener.open(sealed.file.span, into: &plain)
        try opener.finish(into: &plain)
        #expect(plain == picture)
        #expect(sealed.reference.name == "table.jpg")
    }

    // MARK: Key rotation

    @Test func aChangedDeviceKeyOpensWhatWasOnItsWayToTheOldOne() throws {
        let pair = try Enrolled(in: folder, at: now)
        let before = try #require(try pair.seal(payload, for: "phone1", at: now))
        try pair.changeDeviceKey(at: now)
        let after = try #require(try pair.seal(payload, for: "phone1", at: now))
        #expect(before.recipient != after.recipient)
        #expect(try pair.phone.state().accounts[0].keys.map(\.state) == [.retiring, .active])
        #expect(try pair.open(before, at: now).body == "See you at 8")
        #expect(try pair.open(after, at: now).body == "See you at 8")
        #expect(try pair.seal(payload, for: "phone2", at: now) == nil)
    }

    @Test func aChangedSigningKeyIsLearnedFromTheFirstPush() throws {
        let pair = try Enrolled(in: folder, at: now)
        let before = try #require(try pair.seal(payload, for: "phone1", at: now))
        let pins = try pair.phone.state().accounts.map(\.pins)
        let certificate = try pair.changeSigningKey(at: now)
        let after = try #require(try pair.seal(payload, for: "phone1", at: now))
        #expect(try pair.open(after, at: now).certificate == certificate)
        // The phone knows it now, and the pin stays.
        #expect(try pair.open(after, at: now).certificate == nil)
        #expect(try pair.phone.state().accounts.map(\.pins) == pins)
        #expect(try pair.open(before, at: now).body == "See you at 8")
    }

    @Test func anotherPinEndsTheFirst() throws {
        let pair = try Enrolled(in: folder, at: now)
        let before = try #require(try pair.seal(payload, for: "phone1", at: now))
        try replacePin(of: pair.phone, by: ProviderKey().publicKey, nil, for: pair.topic)
        let error = #expect(throws: OpenError.self) { try pair.open(before, at: now) }
        #expect(error?.code == .authenticationFailed)
    }

    // MARK: Receiver

    @Test func aConsoleShowsWhatOpensAndNoTextOfWhatDoesNot() throws {
        let pair = try Enrolled(in: folder, at: now)
        let push = try #require(try pair.seal(payload, for: "phone1", at: now)).json
        let lines = show(push, with: pair.phone, in: "\(folder)/phone", at: now)
        #expect(lines == ["Table for two", "See you at 8", "opened"])
        var changed = push
        changed[changed.count - 20] = changed[changed.count - 20] == 0x41 ? 0x42 : 0x41
        let fallback = show(changed, with: pair.phone, in: "\(folder)/phone", at: now)
        #expect(fallback == ["New message", "(Encrypted)", "authentication-failed"])
    }
}

private struct Unexpected: Error {}
