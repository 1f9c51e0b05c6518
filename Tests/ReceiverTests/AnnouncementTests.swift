import PushcryptReceiver
import Testing

@testable import Pushcrypt
@testable import PushcryptKeyStore

/// Announcements of a rotation in a provider's messages, their recipients and duration, and the end of the old key.
@Suite struct AnnouncementTests {
    let provider: Provider
    let phone: Phone

    init() throws {
        provider = try Provider()
        phone = try Phone(enrolledWith: provider)
    }

    /// A message of this payload needs the smallest bucket, and the next one with a statement.
    private func announces(_ push: Bytes) throws -> Bool {
        let length = try ReceivedPush(push).envelope().innerLength
        #expect([256, 512].contains(length))
        return length == 512
    }

    @Test func theAnnouncingStopsForAPhoneThatHasReportedTheNewPin() throws {
        #expect(try !announces(provider.push(at: .start)))
        _ = try provider.store.rotateProviderKey(at: .start)
        let push = try provider.push(at: .start)
        #expect(try announces(push))
        #expect(phone.receive(push, at: .start).code == "opened")

        // The next launch.
        #expect(try announces(provider.push(at: .start)))
        try provider.store.addDevice(phone.record(), id: Phone.id, at: .start)
        let quiet = try provider.push(at: .start)
        #expect(try !announces(quiet))
        #expect(phone.receive(quiet, at: .start).code == "opened")
    }

    @Test func aPhoneThatHasReportedNothingIsToldForSixtyDays() throws {
        var record = try phone.record()
        record.pinnedProvider = nil
        try provider.store.addDevice(record, id: Phone.id, at: .start)
        _ = try provider.store.rotateProviderKey(at: .start)
        let end = Timestamp.start.plus(days: 60)
        #expect(try announces(provider.push(at: end)))
        #expect(try !announces(provider.push(at: end.plus(milliseconds: 1))))
    }

    @Test func aPhoneThatHasReportedAnOlderKeyIsToldForFourHundredDays() throws {
        _ = try provider.store.rotateProviderKey(at: .start)
        let end = Timestamp.start.plus(days: 400)
        #expect(try announces(provider.push(at: end)))
        #expect(try !announces(provider.push(at: end.plus(milliseconds: 1))))
    }

    // MARK: How many

    @Test func aFifthRotationWaitsUntilTheFirstHasBeenAnnouncedForItsTime() throws {
        for count in 1...4 as ClosedRange<UInt64> {
            _ = try provider.store.rotateProviderKey(at: .start.plus(days: count))
        }
        let firstEnds = Timestamp.start.plus(days: 1 + 60)
        let before = try provider.store.providerKey(named: nil).record
        for now in [Timestamp.start.plus(days: 4), firstEnds] {
            #expect(throws: KeyStoreError(.tooManyAnnouncements, "")) {
                try provider.store.rotateProviderKey(clock: .confirmed, at: now)
            }
        }
        #expect(try provider.store.providerKey(named: nil).record == before)
        #expect(phone.receive(try provider.push(at: firstEnds), at: firstEnds).code == "opened")
        #expect(
            try provider.store.rotateProviderKey(clock: .confirmed, at: firstEnds.plus(milliseconds: 1)).record.generation
                == 6)
    }

    @Test func aForcedFifthRotationLosesThePhonesThatMissedTheFirst() throws {
        var now = Timestamp.start.plus(days: 1)
        _ = try provider.store.rotateProviderKey(at: now)
        // A second phone follows the first rotation, and then both are off.
        let second = try Phone(enrolledWith: provider, as: "phone2", now: now)
        for _ in 2...5 {
            now = now.plus(days: 1)
            _ = try provider.store.rotateProviderKey(force: true, at: now)
        }
        let before = try StoreFiles(in: phone.folder)
        #expect(phone.receive(try provider.push(at: now), at: now).code == "authentication-failed")
        #expect(try StoreFiles(in: phone.folder).changes(since: before) == [])
        #expect(second.receive(try provider.push(to: "phone2", at: now), at: now).code == "opened")
        #expect(try second.pin == provider.key.publicKey)
    }

    // MARK: Room

    /// A payload of so many bytes.
    private func payload(_ count: Int) -> String {
        let (start, end) = (#"{"aps":{"alert":""#, #""}}"#)
        return start + String(repeating: "x", count: count - start.utf8.count - end.utf8.count) + end
    }

    @Test func thePayloadHasLessRoomWhileARotationIsAnnouncedAndTheErrorSaysSo() throws {
        #expect(throws: Never.self) { try provider.push(payload(2717), at: .start) }
        _ = try provider.store.rotateProviderKey(at: .start)
        #expect(throws: Never.self) { try provider.push(payload(2535), at: .start) }
        for (count, excess) in [(2536, 1), (2717, 182)] {
            let error = #expect(throws: SealError.self) { try provider.push(payload(count), at: .start) }
            #expect(error?.code == .payloadTooLarge)
            #expect(error?.description.contains(" \(excess) more than fit (2535)") == true)
            #expect(error?.description.contains("rotation being announced needs 182 bytes") == true)
        }

        #expect(phone.receive(try provider.push(at: .start), at: .start).code == "opened")
        try provider.store.addDevice(phone.record(), id: Phone.id, at: .start)
        #expect(throws: Never.self) { try provider.push(payload(2717), at: .start) }
    }

    // MARK: The old secret

    @Test func whenARotationReturnsNothingIsLeftOfTheOldSecret() throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteKeyStore.create(in: folder.path, at: .start)
        _ = try store.generateProviderKey(at: .start)
        for count in 1...3 as ClosedRange<UInt64> {
            let old = try store.providerKey(named: nil).key
            let rows = try store.withConnection { (connection) throws(KeyStoreError) in
                try connection.rows("SELECT sealed FROM sender_keys")
            }
            guard case .blob(let sealed)? = rows.first?.first else {
                Issue.record("no sender key is stored")
                return
            }
            #expect(try StoreFiles(in: folder).contain(sealed))
            _ = try store.rotateProviderKey(at: .start.plus(days: count))
            let files = try StoreFiles(in: folder)
            for secret in [sealed, old.withSeed { Bytes(copying: $0) }, old.withText { Bytes(copying: $0) }] {
                #expect(!files.contain(secret))
            }
        }
    }
}
