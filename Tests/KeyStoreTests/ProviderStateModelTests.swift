import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// Every order of four events, and everything that the state promises after each. (`Docs/FormatTrust.md`, Rotation)
struct ProviderStateModelTests {
    private enum Event: CaseIterable {
        case rotate, steal, request, install, takeOffline, report, ownReport, answer, replace, ahead, back
    }

    /// A property that does not hold.
    private struct Broken: Error {
        let property: String
    }

    private struct World {
        var state = ProviderState()
        var now = start.adding(.days(400))
        /// Certificates issued here, oldest first, and when the next took its place.
        var issued: [(certificate: Certificate, replacedAt: Timestamp?)] = []
        /// The end of epoch 0.
        var firstReplacedAt: Timestamp?
        /// The highest epoch that any phone may know.
        var highest: UInt32 = 0
        var waiting: CertificateRequest?
        var requestedAt = start
        var trace: [Event] = []

        var key: ProviderState.Key { get throws { try state.key("app") } }

        /// Two worlds with equal numbers are one. What differs in signatures alone does not differ.
        var numbers: [UInt64] {
            get throws {
                let key = try key
                var numbers = [now.milliseconds, UInt64(highest), UInt64(key.publicKey.id.value)]
                numbers.append(key.secret == nil ? 1 : 0)
                numbers += [UInt64(key.certificate?.epoch ?? 0), UInt64(key.certificate?.floor ?? 0)]
                numbers += [key.signing?.since.milliseconds ?? 0, UInt64(key.proven?.epoch ?? 0)]
                numbers += [key.request.map { $0.kind == .stolen ? 2 : 1 } ?? 0, UInt64(waiting?.current?.epoch ?? 0)]
                for past in key.past { numbers += [UInt64(past.epoch), past.replacedAt.milliseconds] }
                for answers in key.answers { numbers += [1, answers.replacedAt?.milliseconds ?? 0] }
                return numbers
            }
        }
    }

    private let keys = [OneProvider.key, ProviderKey()]
    private let topic: Topic
    private let bystander = ProviderKey()

    init() throws { topic = try .app }

    @Test func everyOrderOfFourEventsKeepsEveryPromise() throws {
        var first = World()
        for (key, name) in [(keys[0], "app"), (bystander, "other")] {
            try first.state.add(key.publicKey, secret: Secret(of: key), named: name, topic: topic, at: start)
        }
        var level = [first]
        var seen: Set<[UInt64]> = [try first.numbers]
        for _ in 1...4 {
            var next: [World] = []
            for world in level {
                for event in Event.allCases {
                    var after = world
                    after.trace.append(event)
                    do {
                        guard try take(event, &after), seen.insert(try after.numbers).inserted else { continue }
                        try check(after, after: world)
                    } catch let broken as Broken {
                        Issue.record("\(broken.property): \(after.trace)")
                        return
                    }
                    next.append(after)
                }
            }
            level = next
        }
        #expect(seen.count > 300)
        print("provider state: \(seen.count) states")
    }

    // MARK: Events

    /// Returns false for an event that cannot happen.
    private func take(_ event: Event, _ world: inout World) throws -> Bool {
        let (now, before) = (world.now, try world.key)
        let signingKey = TestProvider.signingKey(world.trace.count)
        switch event {
        case .rotate, .steal:
            let rotation = Rotation(kind: event == .steal ? .stolen : .planned, anyway: true)
            let refusal = code { try world.state.rotate("app", rotation, to: signingKey, at: now) }
            try demand(refusal == (before.secret == nil ? .providerOffline : nil), "who has the key can rotate")
            guard refusal == nil else { return false }
            try replaced(before, rotation.kind, before.proven, recentAt: now, &world)
        case .request:
            let kind = world.trace.count % 2 == 0 ? CertificatePlan.Kind.stolen : .planned
            let rotation = Rotation(kind: kind, anyway: true)
            world.waiting = try world.state.request(for: "app", rotation, to: signingKey, at: now)
            world.requestedAt = now
            let after = try world.key
            let isKept = after.certificate == before.certificate && after.past == before.past
            try demand(isKept, "a request changes nothing else")
        case .install:
            guard let request = world.waiting, let key = key(of: request.provider) else { return false }
            let signed = try request.certify(by: key, at: now)
            if signed.certificate == before.certificate { return false }
            let isWaiting = before.request?.publicKey == request.signingKey && before.publicKey == request.provider
            let last = [before.certificate, before.proven].compactMap(\.self).map(\.epoch).max() ?? 0
            let isNext = signed.certificate.epoch > last
            let refusal = code { try world.state.install(signed, named: "app", at: now) }
            try demand((refusal == nil) == (isWaiting && isNext), "the last request alone is answered, upwards")
            guard refusal == nil else { return false }
            // Where it is certified nobody knows what was reported since.
            try replaced(before, request.kind, request.proven, recentAt: max(now, world.requestedAt), &world)
            let state = world.state
            let again = try world.state.install(signed, named: nil, at: now)
            try demand(again.before == again.after && world.state == state, "a second time changes nothing")
        case .takeOffline:
            guard let key = key(of: before.publicKey) else { return false }
            let refusal = code { try world.state.takeOffline(key, named: "app", topic: nil, at: now) }
            try demand(refusal == (before.secret == nil ? .providerOffline : nil), "a secret goes once")
            let wrong = code { try world.state.takeOffline(bystander, named: "app", topic: nil, at: now) }
            try demand(wrong != nil, "the right key was saved")
            guard refusal == nil else { return false }
            if before.certificate == nil { try replaced(before, .planned, before.proven, recentAt: now, &world) }
        case .report:
            // Of another copy of the store.
            guard let key = key(of: before.publicKey), before.proven == nil else { return false }
            let grace = now.adding(.days(38))
            let plan = CertificatePlan(epoch: world.highest + 5, floor: 0, graceUntil: grace, expiresAt: nil)
            let certificate = try UnsignedCertificate(
                plan, for: signingKey.publicKey, provider: key.publicKey, topic: topic
            ).signed(by: key)
            try demand(try report(certificate, &world) == certificate.epoch, "verified")
            try demand(try world.key.proven == certificate, "what was never issued is noted")
            world.highest = certificate.epoch
        case .ownReport:
            let other = try TestProvider(bystander).certificate(9)
            let state = world.state
            try demand(try report(other, &world) == nil, "another key's says nothing")
            for (certificate, _) in world.issued where certificate.epoch >= before.certificate?.floor ?? 0 {
                try demand(try report(certificate, &world) == certificate.epoch, "known")
            }
            try demand(world.state == state, "what was issued here proves nothing")
            return false
        case .answer:
            let secret = try world.state.answerSecret(of: "app", at: now)
            let again = try world.state.answerSecret(of: "app", at: now)
            try demand(secret.withBytes { a in again.withBytes { b in Sodium.areEqual(a, b) } }, "one is in use")
        case .replace:
            // The app is released with another key.
            guard before.publicKey == keys[0].publicKey else { return false }
            try world.state.remove("app")
            try demand(code { try world.state.key("app") } == .unknownName, "removed")
            try world.state.add(keys[1].publicKey, secret: Secret(of: keys[1]), named: "app", topic: topic, at: now)
            (world.issued, world.firstReplacedAt, world.highest) = ([], nil, 0)
        case .ahead: world.now = now.adding(.days(40))
        case .back: world.now = now.subtracting(.days(40))
        }
        return true
    }

    private func key(of publicKey: ProviderPublicKey) -> ProviderKey? { keys.first { $0.publicKey == publicKey } }

    private func report(_ certificate: Certificate, _ world: inout World) throws -> UInt32? {
        let registration = DeviceRegistration(
            publicKey: .numbered(1), topic: topic, createdAt: start, pinnedProvider: try world.key.publicKey,
            certificate: certificate)
        return world.state.note(registration)
    }

    /// Checks the promises of every replacement of a signing key, no matter who certified the next.
    private func replaced(
        _ before: ProviderState.Key, _ kind: CertificatePlan.Kind, _ proven: Certificate?, recentAt time: Timestamp,
        _ world: inout World
    ) throws {
        let (now, after) = (world.now, try world.key)
        let certificate = try #require(after.certificate)
        try demand(certificate.epoch > world.highest, "an epoch is above all that a phone may know [T-7]")
        try demand(certificate.floor >= before.certificate?.floor ?? 0, "floors never fall")
        try demand(after.request == nil && after.signing?.since == now, "a request is void then")
        if world.issued.isEmpty {
            world.firstReplacedAt = now
        } else {
            world.issued[world.issued.count - 1].replacedAt = now
        }
        if kind == .stolen || proven != nil {
            try demand(certificate.floor == certificate.epoch && after.past.isEmpty, "nothing before it opens")
            try demand(after.proven == nil, "a store heals by one rotation [T-9]")
        } else {
            let later = world.issued.map { ($0.certificate.epoch, $0.replacedAt) }
            let epochs = [(UInt32(0), world.firstReplacedAt)] + later
            let recent = epochs.filter { $0.0 >= before.certificate?.floor ?? 0 }.filter { epoch in
                epoch.1.map { time <= $0.adding(.days(38)) } ?? false
            }
            try demand(certificate.floor <= recent.map(\.0).min() ?? 0, "what may be under way opens")
        }
        world.issued.append((certificate, nil))
        world.highest = certificate.epoch
        let kept = before.answers.filter { $0.replacedAt.map { now <= $0.adding(.days(32)) } ?? true }
        try demand(after.answers.count == (kind == .stolen ? 0 : kept.count), "a stolen answer secret goes at once")
        try demand(after.answers.allSatisfy { $0.replacedAt != nil }, "the next message makes another")
    }

    // MARK: Promises

    private func check(_ world: World, after before: World) throws {
        let key = try world.key
        try demand(world.state.keys.map(\.name) == ["app", "other"], "one key has a name")
        try demand(try world.state.key("other") == before.state.key("other"), "another key")
        try demand(key.secret != nil || key.signing != nil, "something signs")
        try demand(key.certificate == world.issued.last?.certificate, "the last certificate is in use")
        let floor = key.certificate?.floor ?? 0
        let replaced = world.issued.dropLast().map(\.certificate)
        var past: [Certificate?] = replaced.filter { $0.epoch >= floor }
        if floor == 0, world.firstReplacedAt != nil { past.insert(nil, at: 0) }
        try demand(key.past.map(\.certificate) == past, "what may be reported is remembered")
        try demand(key.answers.count { $0.replacedAt == nil } <= 1, "one answer secret is in use")
        try demand(try world.state.readBack() == world.state, "what is read is what was written")
        _ = try world.state.check()
    }

    private func demand(_ condition: Bool, _ property: String) throws {
        if !condition { throw Broken(property: property) }
    }
}
