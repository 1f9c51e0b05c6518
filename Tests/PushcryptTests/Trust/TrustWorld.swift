@testable import Pushcrypt

/// A provider, a phone and a thief, with real keys, certificates and messages: the events of the trust model.
///
/// Each event takes two seconds, so that no two certificates are made in one.
struct TrustWorld {
    /// A broken promise.
    struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    /// A provider's store.
    struct Store {
        var current: Issuer.Issued?
        var past: [CertificatePlan.PastEpoch] = []
        var issued: Set<Bytes> = []
        var proven: Certificate?
    }

    /// A message on its way.
    struct Flight {
        let push: Bytes
        let sentAt: Timestamp
        /// How many thefts had been declared.
        let thefts: Int
    }

    enum Clock: CaseIterable {
        case right, ahead, behind
    }

    private let issuer: Issuer
    private let device: DeviceKey
    private(set) var now = FormatFixture.now
    private var store = Store()
    private var saved: Store?
    private var late: (issued: Issuer.Issued?, replacedAt: Timestamp)?
    /// The knowledge of app and extension; each is written by one of them.
    private var app = LearnedTrust()
    private var fromExtension = LearnedTrust()
    private var image: (app: LearnedTrust, fromExtension: LearnedTrust)?
    private var clock = Clock.right
    private var hasToken = true
    private var stolen: [Issuer.Issued] = []
    private var flight: [Flight] = []
    /// Whether the provider works with an older store, and does not know it yet.
    private var isStale = false
    private var thefts = 0
    private var rotations = 0
    /// The number of rotations at the last reply that the phone got.
    private var talked = -1
    /// The highest floor of a certificate that the phone has accepted since it lost its state.
    private var floor: UInt32 = 0

    init() throws {
        issuer = try Issuer()
        device = try FormatFixture.device(1)
    }

    private var phoneTime: Timestamp {
        switch clock {
        case .right: now
        case .ahead: now.adding(.days(400))
        case .behind: now.subtracting(.days(400))
        }
    }

    private var known: LearnedTrust {
        var known = app
        known.merge(fromExtension)
        return known
    }

    /// Whether a genuine message of the present epoch has to open.
    private var isHealthy: Bool {
        !isStale && clock == .right && hasToken && store.current?.certificate.expiresAt.map { now <= $0 } != false
    }

    private func require(_ holds: Bool, _ what: String) throws {
        if !holds { throw Broken(description: what) }
    }

    // MARK: Events

    enum Event: CaseIterable {
        case genuine, hold, late, release, rotate, short, theft, steal, thief, launch, lost, backup, restore, image
        case phoneRestored, rollback, ahead, behind, right, threeDays, month, hundredDays, year
    }

    mutating func happen(_ event: Event) throws {
        now = now.adding(.seconds(2))
        switch event {
        case .genuine:
            guard isValid(store.current) else { return }
            let opened = try deliver(seal(by: store.current, at: now))
            if isHealthy { try require(opened, "P2: a genuine message of the current epoch is refused") }
        case .hold:
            if !isStale, flight.count < 2, isValid(store.current) {
                flight.append(Flight(push: try seal(by: store.current, at: now), sentAt: now, thefts: thefts))
            }
        case .late: try holdLate()
        case .release:
            guard !flight.isEmpty else { return }
            let message = flight.removeFirst()
            let opened = try deliver(message.push)
            if isHealthy, message.thefts == thefts, now <= message.sentAt.adding(.days(30)) {
                try require(opened, "P3: a message in flight is refused")
            }
        case .rotate: try rotate(.planned)
        case .short: try rotate(.planned, expires: .days(90))
        case .theft: try rotate(.stolen)
        case .steal: if let current = store.current { stolen.append(current) }
        case .thief: for issued in stolen { try believe(issued) }
        case .launch: try launch(isAnswered: true)
        case .lost: try launch(isAnswered: false)
        case .backup: saved = store
        case .restore:
            guard let saved else { return }
            isStale = isStale || saved.current?.certificate != store.current?.certificate
            store = saved
            thefts += 1
        case .image: image = (app, fromExtension)
        case .phoneRestored, .rollback:
            guard let image else { return }
            (app, fromExtension) = image
            (floor, talked, hasToken) = (0, -1, event == .rollback)
        case .ahead: clock = .ahead
        case .behind: clock = .behind
        case .right: clock = .right
        case .threeDays: now = now.adding(.days(3))
        case .month: now = now.adding(.days(29))
        case .hundredDays: now = now.adding(.days(100))
        case .year: now = now.adding(.days(400))
        }
    }

    // MARK: The provider

    private func isValid(_ issued: Issuer.Issued?) -> Bool { issued?.certificate.expiresAt.map { now <= $0 } != false }

    private func seal(by issued: Issuer.Issued?, at time: Timestamp) throws -> Bytes {
        let signer = try issued.map(issuer.signer) ?? EnvelopeSigner(issuer.provider)
        var message = Sealer.Message(alertPayload().utf8)
        message.pushType = .voip
        return try Sealer(signer: signer, topic: issuer.topic).seal(message, to: device.publicKey, at: time).json
    }

    private mutating func rotate(_ kind: CertificatePlan.Kind, expires: Interval? = nil) throws {
        let plan: CertificatePlan
        do {
            plan = try CertificatePlan(
                after: store.current?.certificate, past: store.past, proven: store.proven, at: now, kind,
                expires: expires)
        } catch {
            throw Broken(description: "P7: the provider cannot rotate")
        }
        let key = SigningKey()
        let certificate = try UnsignedCertificate(
            plan, for: key.publicKey, provider: issuer.provider.publicKey, topic: issuer.topic
        ).signed(by: issuer.provider)
        late = isStale ? nil : (store.current, now)
        let current = store.current?.certificate
        store.past.append(CertificatePlan.PastEpoch(current, replacedAt: now))
        store.current = Issuer.Issued(certificate: certificate, key: key)
        store.issued.insert(certificate.claim)
        store.proven = nil
        rotations += 1
        if plan.graceUntil == nil { thefts += 1 }
        isStale = false
    }

    /// A server that has not got the new key yet, up to 7 days; after a theft it must not seal.
    private mutating func holdLate() throws {
        guard let late, let current = store.current?.certificate, !isStale, flight.count < 2,
            now <= late.replacedAt.adding(.days(7)), (late.issued?.certificate.epoch ?? 0) >= current.floor,
            isValid(late.issued)
        else { return }
        flight.append(Flight(push: try seal(by: late.issued, at: now), sentAt: now, thefts: thefts))
    }

    // MARK: The phone

    private func opened(_ push: Bytes) -> OpenedNotification? {
        let trust = ProviderTrust([ProviderTrust.Pin(issuer.provider.publicKey, known)])
        return try? Opener(topic: issuer.topic, deviceKeys: [device], trust: trust).open(push, at: phoneTime, as: .call)
    }

    private mutating func deliver(_ push: Bytes) throws -> Bool {
        guard hasToken, let opened = opened(push) else { return false }
        try require(opened.epoch >= floor, "P1: an epoch below an accepted floor opened")
        let before = known
        fromExtension.merge(opened.learned)
        floor = max(floor, opened.certificate?.floor ?? 0, fromExtension.floor)
        try require(known.floor >= before.floor, "P4: a floor went down")
        return true
    }

    private mutating func believe(_ issued: Issuer.Issued) throws {
        let (before, hadToken) = (floor, hasToken)
        let sentAt = min(phoneTime, issued.certificate.expiresAt ?? phoneTime)
        guard try deliver(seal(by: issued, at: sentAt)) else { return }
        try require(hadToken && issued.certificate.epoch >= before, "P1: a thief's epoch below a floor opened")
        let current = store.current?.certificate
        try require(
            isStale || talked != rotations || issued.certificate.epoch >= current?.floor ?? 0,
            "P6: the thief is believed although phone and provider have talked")
        let replaced = store.past.last { $0.certificate == issued.certificate }?.replacedAt
        if clock == .right, !isStale, let replaced, now > replaced.adding(.days(80)) {
            try require(
                known.certificate?.epoch ?? 0 < current?.epoch ?? 0,
                "P8: a key replaced over 80 days ago is believed by a phone that knows the present epoch")
        }
    }

    private mutating func launch(isAnswered: Bool) throws {
        app.merge(fromExtension)
        fromExtension = LearnedTrust()
        hasToken = true
        // The provider gets the highest certificate, and takes one that it never issued for proof.
        if let reported = app.certificate, !store.issued.contains(reported.claim),
            store.proven.map({ $0 < reported }) ?? true
        {
            store.proven = reported
        }
        guard isAnswered else { return }
        if let current = store.current?.certificate {
            var trust = ProviderTrust([ProviderTrust.Pin(issuer.provider.publicKey, app)])
            _ = try trust.accept(current, for: issuer.topic)
            app = trust.pins[0].learned
            floor = max(floor, app.floor)
        }
        talked = rotations
    }
}
