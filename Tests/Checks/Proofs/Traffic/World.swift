import Pushcrypt
import PushcryptKeyStore

/// One provider and one phone over most of a year of simulated time: messages under way for up to the whole grace, reordered, while
/// both ends rotate.
struct World {
    /// The parameters of one world.
    struct Size {
        var messages = 20_000
        var deviceRotations = 10
        var senderRotations = 10
    }

    /// The outcome.
    struct Tally {
        var messages = 0
        var opened = 0
        var rotations = 0
        var openedAtTheEnd = 0
        var refusedAfterTheEnd = 0
        var longestDelay: UInt64 = 0
    }

    private enum Event {
        case send
        case deliver(Envelope, number: Int, sentAt: Timestamp)
        case rotateDevice
        case rotateSender
        /// The phone says who it is, and the answer comes back.
        case report
        case register(DeviceRegistration)
        case acknowledge(KeyID)
        /// A device key's last millisecond, the one after it, and any time later.
        case probeDeviceKey(DevicePublicKey, opens: Bool)
        case probeSender(SenderKey, opens: Bool)
        /// A message that has opened comes again, when its key has gone.
        case deliverLate(Envelope)
        case purge
    }

    private static let day: UInt64 = 86_400_000
    private static let start = Timestamp(milliseconds: 1_790_000_000_000)
    /// The default grace and overlap of the document.
    private static let grace = 31 * day

    let number: Int
    private let seed: UInt64
    private let size: Size
    private let topic: Topic
    private var numbers: Numbers
    private var agenda = Agenda<Event>()
    private var provider: Provider
    private let phone: Phone
    private var tally = Tally()
    private var underWay: Set<Int> = []
    private var endings: Set<DevicePublicKey> = []
    private var lastOpened: [DevicePublicKey: Envelope] = [:]

    init(_ number: Int, _ size: Size, seed: UInt64) throws {
        self.number = number
        self.seed = seed
        self.size = size
        numbers = Numbers(seed: seed, case: UInt64(number))
        topic = try Topic("com.example.app")
        // A clock that is a day ahead stretches 30 days of life to the 31 of the grace.
        let skew = number.isMultiple(of: 2) ? Self.day : numbers.next() % Self.day
        provider = try Provider(topic: topic, skew: skew, at: Self.start)
        phone = try Phone(topic: topic, trusting: provider.sender.publicKey, at: Self.start)
        try provider.register(try phone.registration(), at: Self.start)
    }

    consuming func run() throws -> Tally {
        let length = UInt64(max(size.deviceRotations, size.senderRotations) + 1) * 24 * Self.day
        for _ in 0..<size.messages { agenda.enter(.send, at: moment(within: length)) }
        for index in 1...size.deviceRotations { agenda.enter(.rotateDevice, at: moment(of: index)) }
        for index in 1...size.senderRotations { agenda.enter(.rotateSender, at: moment(of: index)) }
        for day in 1...(length + 2 * Self.grace) / Self.day {
            agenda.enter(.report, at: Self.start.adding(milliseconds: day * Self.day))
            agenda.enter(.purge, at: Self.start.adding(milliseconds: day * Self.day + Self.day / 2))
        }
        while let (now, event) = agenda.next() { try handle(event, at: now) }
        guard underWay.isEmpty, tally.messages == size.messages,
            tally.rotations == size.deviceRotations + size.senderRotations
        else { throw Misuse("world \(number) did not go to its end: \(tally)") }
        return tally
    }

    private mutating func moment(within length: UInt64) -> Timestamp {
        Self.start.adding(milliseconds: numbers.next() % length)
    }

    /// Every 24 days, give or take two.
    private mutating func moment(of index: Int) -> Timestamp {
        Self.start.adding(milliseconds: UInt64(index) * 24 * Self.day - 2 * Self.day + numbers.next() % (4 * Self.day))
    }

    // MARK: Events

    private mutating func handle(_ event: Event, at now: Timestamp) throws {
        switch event {
        case .send: try send(at: now)
        case .deliver(let envelope, let number, let sentAt):
            try deliver(envelope, number, sentAt: sentAt, at: now)
        case .rotateDevice: try rotateDevice(at: now)
        case .rotateSender: try rotateSender(at: now)
        case .report: try report(at: now)
        case .register(let registration):
            try provider.register(registration, at: now)
            // One answer of five is lost; the first message under the new key does as well.
            if numbers.below(5) > 0 { agenda.enter(.acknowledge(registration.publicKey.id), at: soon(after: now)) }
        case .acknowledge(let id):
            _ = try phone.store.confirmDeviceKey(acknowledged: id, at: now)
            try noteEndings(at: now)
        case .probeDeviceKey(let key, let opens): try probe(key, opens: opens, at: now)
        case .probeSender(let key, let opens):
            try probe(key, opens: opens, at: now)
            // It may have confirmed a pending key.
            try noteEndings(at: now)
        case .deliverLate(let envelope):
            try expect(try phone.open(envelope, at: now), .unknownRecipientKey, "a message to a purged key")
        case .purge: try purge(at: now)
        }
    }

    private mutating func soon(after now: Timestamp) -> Timestamp {
        now.adding(milliseconds: numbers.next() % (2 * Self.day))
    }

    private mutating func send(at now: Timestamp) throws {
        let number = tally.messages
        tally.messages += 1
        underWay.insert(number)
        let sealed = try provider.seal(#"{"aps":{"alert":"\#(number)"}}"#, at: now)
        // As long as it lives by the phone's clock; one of ten to the last millisecond of that.
        let life = sealed.expiresAt.milliseconds - now.milliseconds
        let delay = numbers.below(10) == 0 ? life : numbers.next() % (life + 1)
        tally.longestDelay = max(tally.longestDelay, delay)
        agenda.enter(
            .deliver(sealed.envelope, number: number, sentAt: now.adding(milliseconds: provider.skew)),
            at: now.adding(milliseconds: delay))
    }

    private mutating func deliver(_ envelope: Envelope, _ number: Int, sentAt: Timestamp, at now: Timestamp) throws {
        switch try phone.open(envelope, at: now) {
        case .success(let opened):
            guard opened.body == "\(number)", opened.sentAt == sentAt else {
                throw disproof("message \(number) opens as another")
            }
            guard underWay.remove(number) != nil else { throw Misuse("message \(number) came twice") }
            tally.opened += 1
            lastOpened[opened.openedWith] = envelope
            try noteEndings(at: now)
        case .failure(let error):
            throw disproof("message \(number), sent \(sentAt) and delivered \(now), is lost: \(error.code)")
        }
    }

    private mutating func rotateDevice(at now: Timestamp) throws {
        // One at a time: a request while one is pending returns the same key.
        guard try !phone.hasPendingKey() else { return agenda.enter(.rotateDevice, at: soon(after: now)) }
        _ = try phone.store.rotateDeviceKey(at: now)
        tally.rotations += 1
        try report(at: now)
    }

    private mutating func rotateSender(at now: Timestamp) throws {
        let old = provider.sender
        let statement = try provider.rotate(at: now)
        tally.rotations += 1
        agenda.enter(.probeSender(old, opens: true), at: statement.overlapEnd)
        agenda.enter(.probeSender(old, opens: false), at: statement.overlapEnd.adding(milliseconds: 1))
        agenda.enter(.probeSender(old, opens: false), at: soon(after: statement.overlapEnd.adding(.seconds(1))))
    }

    private mutating func report(at now: Timestamp) throws {
        // One record of ten is lost; the next day brings another.
        guard numbers.below(10) > 0 else { return }
        agenda.enter(.register(try phone.registration()), at: soon(after: now))
    }

    private mutating func purge(at now: Timestamp) throws {
        for key in try phone.store.purgeRetiredDeviceKeys(at: now) {
            agenda.enter(.probeDeviceKey(key.publicKey, opens: false), at: soon(after: now))
            if let envelope = lastOpened.removeValue(forKey: key.publicKey) {
                agenda.enter(.deliverLate(envelope), at: soon(after: now))
            }
        }
    }

    /// Looks for keys that have begun to retire, and visits them when they end.
    private mutating func noteEndings(at now: Timestamp) throws {
        for record in try phone.store.deviceKeys() {
            guard let end = record.retiresAt, endings.insert(record.publicKey).inserted else { continue }
            guard end == now.adding(milliseconds: Self.grace) else {
                throw disproof("a grace of another length: \(end)")
            }
            agenda.enter(.probeDeviceKey(record.publicKey, opens: true), at: end)
            agenda.enter(.probeDeviceKey(record.publicKey, opens: false), at: end.adding(milliseconds: 1))
        }
    }

    // MARK: Beginning and end of a refusal

    /// A message sealed now by a provider without the rotation.
    private mutating func probe(_ key: DevicePublicKey, opens: Bool, at now: Timestamp) throws {
        let sealer = Sealer(sender: provider.sender, topic: topic)
        var options = Sealer.Options()
        // Were it lost for its sender, it would say nothing of the device's key.
        options.announcing = try provider.everyAnnouncement(at: now)
        let sealed = try sealer.seal(#"{"aps":{"alert":"probe"}}"#.utf8, to: key, at: now, options: options)
        try expect(
            try phone.open(sealed.envelope, at: now), opens ? nil : .unknownRecipientKey,
            "a device key at \(now), whose end is \(opens ? "then" : "past")")
    }

    /// A message signed now with a superseded key.
    private mutating func probe(_ key: SenderKey, opens: Bool, at now: Timestamp) throws {
        guard try !phone.store.trust(for: topic).pinned.contains(key.publicKey) else {
            throw Misuse("world \(number): the phone has not heard of a rotation in a month")
        }
        let newest = try phone.registration().publicKey
        let sealed = try Sealer(sender: key, topic: topic).seal(
            #"{"aps":{"alert":"probe"}}"#.utf8, to: newest, at: now)
        try expect(
            try phone.open(sealed.envelope, at: now), opens ? nil : .authenticationFailed,
            "a sender key at \(now), whose overlap's end is \(opens ? "then" : "past")")
    }

    private mutating func expect(
        _ result: Result<OpenedNotification, OpenError>, _ code: OpenError.Code?, _ what: String
    ) throws {
        var found: OpenError.Code?
        if case .failure(let error) = result { found = error.code }
        guard found == code else {
            throw disproof(
                "\(what): \(found?.description ?? "opens"), and \(code?.description ?? "opening") is demanded")
        }
        if code == nil { tally.openedAtTheEnd += 1 } else { tally.refusedAfterTheEnd += 1 }
    }

    private func disproof(_ what: String) -> Disproof {
        Disproof("world \(number): \(what)", again: "traffic \(number)", seed: seed)
    }
}
