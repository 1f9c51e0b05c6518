import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// The provider's store. Certificates are numbers of the phone's list.
struct ModelProvider: Hashable {
    struct Past: Hashable {
        let certificate: Int?
        let day: Int
        let replacedAt: Timestamp
    }

    var current: Int?
    var issuedOn = 0
    var past: [Past] = []
    /// The certificate in the last record, if it had one.
    var reported: Int?
    /// The thefts that this store remembers.
    var thefts = 0
}

/// One provider, one phone, one thief. Time is in days, and a second for each rotation: two never have one epoch.
struct ModelWorld: Hashable {
    struct Flight: Hashable {
        let message: ModelMessage
        let stolen: Int
        let day: Int
    }

    /// The parts of the phone that can be restored.
    struct Image: Hashable {
        let phone: Int
        let rang: Int
        let rangOn: Int
        let touched: Set<Int>
    }

    var day = 0
    var provider = ModelProvider()
    var saved: ModelProvider?
    /// The store as it was before the last rotation: of a server that gets the new key late.
    var late: ModelProvider?
    /// The number of rotations so far.
    var count = 0
    var phone: Int
    var image: Image?
    /// How many days the phone's clock is wrong.
    var off = 0
    /// Whether pushes reach the phone.
    var hasToken = true
    /// The certificates whose signing keys a thief has.
    var thief: Set<Int> = []
    var flight: [Flight] = []

    // Known to the observer alone.
    /// The highest floor of any certificate that the phone has accepted.
    var floor: UInt32 = 0
    /// The certificates that the phone has refused to the thief.
    var ended: Set<Int> = []
    /// How often the provider has ended everything before.
    var stolen = 0
    var isStale = false
    /// The value of `stolen` when the named message rang, and the day.
    var rang = -1
    var rangOn = 0
    /// The value of `count` when a reply last arrived.
    var talked = -1
    /// Whether an older store was restored: what it forgot it cannot enforce.
    var hasForgotten = false
    /// The numbers of thefts known when somebody made or withdrew the named message's row.
    var touched: Set<Int> = []

    // Where the provider key itself is stolen.
    var isRootStolen = false
    /// The keys of the app's release.
    var pins = [0]

    init(phone: Int) { self.phone = phone }

    /// The provider's time.
    var time: Timestamp { start.adding(.days(UInt64(day))) + UInt64(count) }
    /// The phone's.
    var phoneTime: Timestamp {
        let days = off < 0 ? time.subtracting(.days(UInt64(-off))) : time.adding(.days(UInt64(off)))
        return days
    }
}

/// A property that does not hold.
struct Broken: Error {
    let property: String
}

/// The events of the model, over real stores. Those that cannot happen in a world return nil.
final class TrustModel {
    typealias World = ModelWorld

    static let rotations = 6
    private static let timeToLive = 30
    private static let rollout = 7
    /// The days for which a replaced key may be believed by a phone that knows its successor: 38 of grace, and what a
    /// phone's clock and a message in flight add.
    private static let bound = 80

    let phone: ModelPhone

    init() throws { phone = try ModelPhone() }

    // MARK: The provider

    private func certificate(_ number: Int?) -> Certificate? { number.map { phone.certificates[$0] } }

    private func epoch(_ number: Int?) -> UInt32 { certificate(number)?.epoch ?? 0 }

    private func floor(_ number: Int?) -> UInt32 { certificate(number)?.floor ?? 0 }

    private func isValid(_ provider: ModelProvider, _ world: World) -> Bool {
        certificate(provider.current)?.expiresAt.map { world.time <= $0 } ?? true
    }

    private func sealed(_ provider: ModelProvider, _ world: World, _ kind: ModelMessage.Kind = .plain) -> ModelMessage {
        ModelMessage(provider: 0, certificate: provider.current, sentAt: world.time, kind: kind)
    }

    private func rotate(
        _ world: World, _ kind: CertificatePlan.Kind = .planned, expires: Interval? = nil
    ) throws -> World? {
        guard world.count < Self.rotations else { return nil }
        let (old, current) = (world.provider, certificate(world.provider.current))
        let issued = ([old.current] + old.past.map(\.certificate)).compactMap { certificate($0)?.claim }
        let proven = certificate(old.reported).flatMap { reported in
            reported.epoch >= current?.floor ?? 0 && !issued.contains(reported.claim) ? reported : nil
        }
        let past = old.past.map { CertificatePlan.PastEpoch(certificate($0.certificate), replacedAt: $0.replacedAt) }
        guard
            let plan = try? CertificatePlan(
                after: current, past: past, proven: proven, at: world.time, kind, expires: expires)
        else { throw Broken(property: "P7 rotation refused: the provider cannot heal") }
        let new = phone.certificates.number(try phone.providers[0].certificate(plan, signing: world.count + 1))
        phone.signingKeys[new] = world.count + 1
        var next = world
        next.provider.current = new
        next.provider.issuedOn = world.day
        next.provider.past = Array(
            (old.past + [.init(certificate: old.current, day: world.day, replacedAt: world.time)]).suffix(9))
        if kind == .stolen { next.provider.thefts += 1 }
        if kind == .stolen || proven != nil { next.stolen += 1 }
        next.late = world.isStale ? nil : old
        next.count += 1
        next.isStale = false
        return next
    }

    // MARK: The phone

    private func isHealthy(_ world: World) -> Bool {
        !world.isRootStolen && !world.isStale && abs(world.off) <= 1 && world.hasToken && isValid(world.provider, world)
            && world.pins.contains(0)
    }

    private func deliver(
        _ world: World, _ message: ModelMessage, ending end: ModelPhone.End = .never
    ) throws -> (world: World, isOpened: Bool, rings: Bool) {
        guard world.hasToken else { return (world, false, false) }
        let delivery = try phone.deliver(message, to: world.phone, at: world.phoneTime, ending: end)
        guard delivery.isOpened else { return (world, false, false) }
        var next = world
        next.phone = delivery.state
        if end == .never, message.provider == 0 {
            let highest = try phone.trust(next.phone).first?.certificate?.floor ?? 0
            next.floor = max(next.floor, floor(message.certificate), highest)
        }
        return (next, true, delivery.rings)
    }

    private func demand(_ condition: Bool, _ property: String) throws {
        if !condition { throw Broken(property: property) }
    }

    func genuine(_ world: World) throws -> World? { try genuine(world, ending: .never) }
    func genuineUnsettled(_ world: World) throws -> World? { try genuine(world, ending: .beforeSettling) }

    private func genuine(_ world: World, ending end: ModelPhone.End) throws -> World? {
        guard isValid(world.provider, world) else { return nil }
        let (next, isOpened, _) = try deliver(world, sealed(world.provider, world), ending: end)
        if isHealthy(world) { try demand(isOpened, "P2 genuine message of the current epoch refused") }
        return next
    }

    func named(_ world: World) throws -> World? { try named(world, ending: .never) }
    func namedUnshown(_ world: World) throws -> World? { try named(world, ending: .beforeHandingOver) }
    func namedUnsettled(_ world: World) throws -> World? { try named(world, ending: .beforeSettling) }

    /// A message whose id is known in advance; sent again it must not ring again.
    private func named(_ world: World, ending end: ModelPhone.End) throws -> World? {
        guard isValid(world.provider, world) else { return nil }
        var (next, isOpened, rings) = try deliver(world, sealed(world.provider, world, .named), ending: end)
        if isHealthy(world) {
            try demand(isOpened, "P2 genuine message of the current epoch refused")
            if world.rang < 0, !world.hasForgotten, !world.touched.contains(world.provider.thefts),
                end != .beforeHandingOver
            {
                try demand(rings, "P2 genuine message opened but silenced by rows that the thief made")
            }
            if world.rang == world.stolen, !world.hasForgotten, world.day <= world.rangOn + Self.timeToLive {
                try demand(!rings, "P5 a retry rang twice")
            }
        }
        if rings { (next.rang, next.rangOn) = (world.stolen, world.day) }
        return next
    }

    func hold(_ world: World) throws -> World? {
        guard !world.isStale, world.flight.count < 2, isValid(world.provider, world) else { return nil }
        var next = world
        next.flight.append(
            .init(message: sealed(world.provider, world), stolen: world.stolen, day: world.day))
        return next
    }

    /// A server that has not got the new key yet, up to 7 days.
    func late(_ world: World) throws -> World? {
        guard let late = world.late, world.provider.current != nil,
            world.day <= world.provider.issuedOn + Self.rollout, world.flight.count < 2, !world.isStale,
            isValid(late, world), epoch(late.current) >= floor(world.provider.current)
        else { return nil }
        var next = world
        next.flight.append(.init(message: sealed(late, world), stolen: world.stolen, day: world.day))
        return next
    }

    func release(_ world: World) throws -> World? {
        guard let flight = world.flight.first else { return nil }
        var rest = world
        rest.flight.removeFirst()
        let (next, isOpened, _) = try deliver(rest, flight.message)
        if isHealthy(world), flight.stolen == world.stolen, world.day < flight.day + Self.timeToLive {
            try demand(isOpened, "P3 message in flight refused")
        }
        return next
    }

    // MARK: The thief

    func steal(_ world: World) throws -> World? {
        guard let current = world.provider.current else { return nil }
        var next = world
        next.thief.insert(current)
        return next
    }

    func thief(_ world: World) throws -> World? { try thief(world, .plain) }
    func poison(_ world: World) throws -> World? { try thief(world, .withdrawal) }

    private func thief(_ world: World, _ kind: ModelMessage.Kind) throws -> World? {
        guard !world.thief.isEmpty else { return nil }
        var world = world
        for stolen in world.thief.sorted(by: { phone.certificates[$0] < phone.certificates[$1] }) {
            // No later than his certificate allows.
            let end = certificate(stolen)?.expiresAt ?? world.phoneTime
            let sentAt = min(world.phoneTime, end)
            let message = ModelMessage(provider: 0, certificate: stolen, sentAt: sentAt, kind: kind)
            let (next, isOpened, _) = try deliver(world, message)
            guard isOpened else {
                if world.hasToken, world.off == 0 { world.ended.insert(stolen) }
                continue
            }
            try demand(epoch(stolen) >= world.floor, "P1 opened an epoch below a floor that the phone had accepted")
            try demand(
                world.isStale || world.talked != world.count || epoch(stolen) >= floor(world.provider.current),
                "P6 thief believed although phone and provider have talked since")
            let replaced = world.provider.past.first { $0.certificate == stolen }?.day
            let knowsCurrent =
                try phone.trust(next.phone).first?.certificate?.epoch ?? 0 >= epoch(world.provider.current)
            let isRecent = replaced.map { world.day <= $0 + Self.bound } ?? true
            try demand(
                world.off != 0 || world.isStale || isRecent || !knowsCurrent,
                "P8 a key replaced over 80 days ago is believed by a phone that knows the current epoch")
            try demand(
                world.off != 0 || world.hasForgotten || !world.ended.contains(stolen) || replaced != nil && isRecent,
                "P8 a key that had ended on this phone is believed again")
            world = next
            if kind == .withdrawal { world.touched.insert(world.provider.thefts) }
        }
        return world
    }

    // MARK: Rotations

    func plan(_ world: World) throws -> World? { try rotate(world) }
    func stolen(_ world: World) throws -> World? { try rotate(world, .stolen) }
    func short(_ world: World) throws -> World? { try rotate(world, expires: .days(90)) }

    // MARK: The app

    func launch(_ world: World) throws -> World? { try launch(world, reply: world.provider.current, arrives: true) }
    func lost(_ world: World) throws -> World? { try launch(world, reply: nil, arrives: false) }
    /// A reply from before the last rotation is replayed, or its certificate is put into another.
    func tampered(_ world: World) throws -> World? { try launch(world, reply: world.late?.current, arrives: false) }

    private func launch(_ world: World, reply: Int?, arrives: Bool) throws -> World {
        let (state, reported) = try phone.launch(world.phone, reply: reply)
        var next = world
        next.phone = state
        next.provider.reported = reported
        next.hasToken = true
        if arrives { next.talked = world.count }
        next.floor = max(world.floor, try phone.trust(state).first?.certificate?.floor ?? 0)
        return next
    }

    func repin(_ world: World) throws -> World? {
        var next = world
        next.phone = try phone.addAgain(world.phone)
        return next
    }

    /// A reply names another key: nothing changes.
    func foreignReply(_ world: World) throws -> World? {
        let state = try phone.foreignReply(world.phone, naming: Self.stranger.get())
        try demand(state == world.phone, "P1 a reply that names another key has changed the trust")
        return nil
    }

    private static let stranger = Result { try TestProvider(ProviderKey()) }

    // MARK: Stores that are lost and come back

    func backup(_ world: World) throws -> World? {
        var next = world
        next.saved = world.provider
        return next
    }

    func restore(_ world: World) throws -> World? {
        guard let saved = world.saved else { return nil }
        var next = world
        next.provider = saved
        next.stolen += 1
        next.hasForgotten = true
        next.isStale = world.isStale || saved.current != world.provider.current
        return next
    }

    func image(_ world: World) throws -> World? {
        var next = world
        next.image = .init(phone: world.phone, rang: world.rang, rangOn: world.rangOn, touched: world.touched)
        return next
    }

    /// The system gives a restored phone another push token, which the provider learns at the next launch.
    func phoneRestore(_ world: World) throws -> World? { phoneRestore(world, hasToken: false) }
    func rollback(_ world: World) throws -> World? { phoneRestore(world, hasToken: true) }

    private func phoneRestore(_ world: World, hasToken: Bool) -> World? {
        guard let image = world.image else { return nil }
        var next = world
        next.phone = image.phone
        (next.rang, next.rangOn, next.touched) = (image.rang, image.rangOn, image.touched)
        next.hasToken = hasToken
        (next.floor, next.ended, next.talked) = (0, [], -1)
        return next
    }

    // MARK: Clocks

    func ahead(_ world: World) throws -> World? { world.off == 0 ? clock(world, 400) : nil }
    func right(_ world: World) throws -> World? { world.off != 0 ? clock(world, 0) : nil }
    func days3(_ world: World) throws -> World? { pass(3, world) }
    func days29(_ world: World) throws -> World? { pass(29, world) }
    func days100(_ world: World) throws -> World? { pass(100, world) }

    private func clock(_ world: World, _ off: Int) -> World {
        var next = world
        next.off = off
        return next
    }

    private func pass(_ days: Int, _ world: World) -> World {
        var next = world
        next.day += days
        return next
    }

    // MARK: The provider key itself is stolen

    func stealRoot(_ world: World) throws -> World? {
        guard !world.isRootStolen else { return nil }
        var next = world
        next.isRootStolen = true
        return next
    }

    /// The thief certifies a key of his own, and ends everything before.
    func rootThief(_ world: World) throws -> World? {
        guard world.isRootStolen else { return nil }
        let epoch = UInt32(world.time.milliseconds / 1000) + 1000
        let forged = phone.certificates.number(
            try phone.providers[0].certificate(epoch, floor: epoch, signing: 7))
        phone.signingKeys[forged] = 7
        let message = ModelMessage(provider: 0, certificate: forged, sentAt: world.phoneTime)
        let (next, isOpened, _) = try deliver(world, message)
        try demand(
            isOpened == world.pins.contains(0) || !world.hasToken, "a stolen provider key is believed by its pins")
        return next
    }

    /// A release pins the next key beside the stolen one, and another one drops that.
    func releaseBoth(_ world: World) throws -> World? { try pin([0, 1], world) }
    func releaseNext(_ world: World) throws -> World? { try pin([1], world) }

    private func pin(_ pins: [Int], _ world: World) throws -> World? {
        guard world.pins.count == 1, world.pins[0] == 0 || pins == [0, 1] else {
            return world.pins == [0, 1] && pins == [1] ? try repinned(world, pins) : nil
        }
        return try repinned(world, pins)
    }

    private func repinned(_ world: World, _ pins: [Int]) throws -> World {
        var next = world
        next.pins = pins
        next.phone = try phone.pin(pins, world.phone)
        return next
    }

    /// The provider seals with its next key: a phone that pins it opens, whatever a thief of the other has done.
    func genuineNext(_ world: World) throws -> World? {
        let message = ModelMessage(provider: 1, certificate: nil, sentAt: world.time)
        let (next, isOpened, _) = try deliver(world, message)
        if world.hasToken, abs(world.off) <= 1 {
            try demand(
                isOpened == world.pins.contains(1),
                "P2 a message under the pin of a release was refused, or without it believed")
        }
        return next
    }
}
