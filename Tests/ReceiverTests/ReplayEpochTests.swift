import Pushcrypt
import PushcryptReceiver
import Testing

@testable import PushcryptKeyStore

/// The replay guard remembers by the pin, and forgets what a thief has made it remember. [O-8.x]
@Suite struct ReplayEpochTests {
    let provider: Provider
    let phone: Phone

    init() throws {
        provider = try Provider()
        phone = try Phone(enrolledWith: provider)
    }

    private func push(
        _ name: String, withdrawing: [String] = [], by signer: EnvelopeSigner? = nil, at now: Timestamp = .start
    ) throws -> Bytes {
        var options = Sealer.Options()
        options.messageName = name
        options.withdrawing = withdrawing
        options.timeToLive = .days(30)
        return try Sealer(signer: signer ?? provider.store.signer(), topic: .app)
            .seal(Provider.payload.utf8, to: phone.newestKey().publicKey, at: now, options: options).json
    }

    private func receive(_ push: Bytes, _ request: String, at now: Timestamp = .start) -> Shown {
        phone.receive(push, request: request, at: now).shown
    }

    /// A worker repeats what it has sent with the key before.
    @Test func aRetryAfterAPlannedRotationIsTheSameMessage() throws {
        for name in ["first", "second"] {
            let before = try push(name)
            try provider.rotate(at: .start)
            #expect(receive(before, "a") == DuplicateTests.opened)
            #expect(receive(try push(name), "b") == DuplicateTests.passive)
            #expect(receive(before, "c") == DuplicateTests.passive)
        }
    }

    /// A thief has shown a message of each name that the provider will use: the genuine ones ring all the same.
    @Test(arguments: [false, true]) func whatAThiefHasShownCountsAsAbsentAfterTheTheft(_ isNamed: Bool) throws {
        try provider.rotate(at: .start)
        let thief = try provider.store.signer()
        for number in 0..<3 {
            #expect(receive(try push("order \(number)", by: thief), "t\(number)") == DuplicateTests.opened)
        }
        try provider.rotate(stolen: true, at: .start)
        for number in 0..<3 {
            let genuine = try push(isNamed ? "order \(number)" : "other \(number)")
            #expect(receive(genuine, "g\(number)") == DuplicateTests.opened)
            #expect(receive(genuine, "c\(number)") == DuplicateTests.passive)
        }
    }

    /// He has withdrawn what the provider will send.
    @Test func whatAThiefHasWithdrawnIsShownAfterTheTheft() throws {
        try provider.rotate(at: .start)
        let thief = try provider.store.signer()
        #expect(receive(try push("theft", withdrawing: ["order"], by: thief), "t") == DuplicateTests.opened)
        try provider.rotate(stolen: true, at: .start)
        #expect(receive(try push("order"), "a") == DuplicateTests.opened)
    }

    /// A planned rotation does not end a withdrawal, and a message of the next key withdraws one of the key before.
    @Test func withdrawalsOutliveAPlannedRotation() throws {
        let late = try push("late")
        let early = try push("early")
        #expect(receive(early, "a") == DuplicateTests.opened)
        try provider.rotate(at: .start)
        #expect(receive(try push("withdrawal", withdrawing: ["early", "late"]), "b") == DuplicateTests.opened)
        #expect(phone.receive(late, request: "c", at: .start).code == "withdrawn")
        #expect(phone.receive(try push("late"), request: "d", at: .start).code == "withdrawn")
        #expect(phone.receive(try push("early"), request: "a", at: .start).code == "withdrawn")
    }

    /// A thief fills the guard with messages of the future, for which the provider's would count as seen.
    @Test func aFloorThatAThiefHasRaisedIsVoidAfterTheTheft() throws {
        try provider.rotate(at: .start)
        let thief = try provider.store.signer()
        let database = ExtensionDatabase(in: phone.folder.path, busyTimeout: 1000, maximumRows: 4)
        func receive(_ push: Bytes, _ request: String) -> Shown {
            phone.receiver(database).receive(push, requestID: request, at: .start).shown
        }
        let future = Timestamp.start.plus(seconds: 80_000)
        for number in 0..<8 {
            let push = try push("t\(number)", by: thief, at: future.plus(seconds: UInt64(number)))
            #expect(receive(push, "t\(number)") == DuplicateTests.opened)
        }
        #expect(receive(try push("before", by: thief), "b") == DuplicateTests.passive, "it counts as seen")
        try provider.rotate(stolen: true, at: .start)
        #expect(receive(try push("genuine"), "g") == DuplicateTests.opened)
    }
}
