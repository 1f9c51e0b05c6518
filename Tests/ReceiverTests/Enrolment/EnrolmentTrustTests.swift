import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// Whom an installation believes first, and that no reply changes it afterwards.
@Suite struct EnrolmentTrustTests {
    @Test(arguments: StoreKind.allCases) func aBuiltInKeyIsPinnedBeforeAnythingIsSent(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([try provider.key.publicKey])
        #expect(try phone.launch(with: provider, .recordLost) == "register")
        #expect(try phone.pin == provider.key.publicKey)
        #expect(try phone.launch(with: provider) == "register")
        #expect(phone.results == [EnrolmentResult(key: .acknowledged, sender: .trusted)])
        #expect(try provider.devices.map(\.pinnedProvider) == [provider.key.publicKey])
        #expect(try phone.launch(with: provider) == "nothing")
    }

    /// The app has pinned the key before, for every app.
    @Test(arguments: StoreKind.allCases) func aPinThatIsThereIsLeftAsItIs(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        phone.file = EnrolmentState().json
        phone.firstTrust = .builtIn([try provider.key.publicKey])
        try phone.store.pinProvider(provider.key.publicKey, named: "provider", topic: nil, replace: false, at: .start)
        #expect(try phone.launch(with: provider) == "register")
        #expect(phone.results == [EnrolmentResult(key: .acknowledged, sender: .trusted)])
        #expect(try phone.store.pinnedProviders().map(\.topic) == [nil])
    }

    /// Controlling the channel once does not help against an app with a built-in key.
    @Test(arguments: StoreKind.allCases) func aReplyDoesNotReplaceABuiltInKey(_ kind: StoreKind) throws {
        let provider = try Provider()
        let builtIn = ProviderKey().publicKey
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([builtIn])
        try phone.launch(with: provider)
        #expect(
            phone.results == [
                EnrolmentResult(
                    key: .acknowledged, sender: .notAccepted(try provider.key.publicKey), foreign: [.sender])
            ])
        #expect(try phone.pin == builtIn)
    }

    @Test(arguments: StoreKind.allCases) func aLaterReplyDoesNotReplaceThePin(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let first = try provider.key.publicKey
        let stranger = try Provider()
        phone.circumstances.pushToken = [1]
        try phone.launch(with: stranger)
        #expect(
            phone.results.last
                == EnrolmentResult(
                    key: .acknowledged, sender: .notAccepted(try stranger.key.publicKey), foreign: [.sender]))
        #expect(try phone.pin == first)
        // Only the app's own decision does.
        try phone.store.pinProvider(stranger.key.publicKey, named: "provider", topic: .app, replace: true, at: .start)
        #expect(try phone.launch(with: stranger) == "register-again(sender-changed)")
        #expect(phone.results.last == EnrolmentResult(key: .acknowledged, sender: .trusted))
    }

    @Test(arguments: StoreKind.allCases) func aSupersededKeyIsNotPinnedAgain(_ kind: StoreKind) throws {
        let provider = try Provider()
        let old = try provider.key.publicKey
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        _ = try provider.store.rotateProviderKey(at: .start)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        try phone.store.unpinProvider(named: "provider")

        phone.circumstances.pushToken = [1]
        let request = try #require(try begin(phone).request)
        var state = try phone.state
        let result = try phone.enrolment.handle(
            RegistrationReply(.acknowledged(request.record.publicKey), sender: old), to: request, state: &state,
            at: .start)
        #expect(result == EnrolmentResult(key: .acknowledged, sender: .notAccepted(old)))
        phone.firstTrust = .builtIn([old])
        #expect(try begin(phone).request != nil)
        #expect(try phone.pin == nil)
    }

    /// An app with a key built in that it can no longer pin waits for its next version, and believes nobody meanwhile.
    @Test(arguments: StoreKind.allCases) func aReplyDoesNotStandInForABuiltInKey(_ kind: StoreKind) throws {
        let provider = try Provider()
        let stolen = ProviderKey().publicKey
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([stolen])
        try phone.launch(with: provider, .recordLost)
        try phone.store.pinProvider(ProviderKey().publicKey, named: "provider", topic: .app, replace: true, at: .start)
        try phone.store.unpinProvider(named: "provider")
        try phone.launch(with: provider)
        #expect(
            phone.results == [EnrolmentResult(key: .acknowledged, sender: .notAccepted(try provider.key.publicKey))])
        #expect(try phone.pin == nil)
    }

    /// A message has brought a rotation, the app has folded it in, and the provider may stop announcing it.
    @Test(arguments: StoreKind.allCases) func pinnedProviderChanged(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([try provider.key.publicKey])
        try phone.launch(with: provider)
        _ = try provider.store.rotateProviderKey(at: .start)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        #expect(try phone.launch(with: provider) == "register-again(sender-changed)")
        #expect(phone.results.last == EnrolmentResult(key: .acknowledged, sender: .trusted))
        #expect(try provider.devices.map(\.pinnedProvider) == [provider.key.publicKey])
        #expect(try phone.launch(with: provider) == "nothing")

        // The built-in key is an old one by now, and changes nothing for another account.
        phone.account = "second"
        try phone.launch(with: provider)
        #expect(try phone.pin == provider.key.publicKey)
        #expect(try phone.receive(provider.push(to: phone.device("second"), at: .start)) == "opened")
    }

    // MARK: Recovery keys

    private func recover(_ provider: Provider, by key: RecoveryKey, at now: Timestamp = .start) throws {
        let request = try provider.store.prepareRecovery(
            topic: .app, by: key.publicKey, clock: .confirmed, at: now
        ).request
        _ = try provider.store.finishRecovery(request.signed(by: key), clock: .confirmed, at: now)
    }

    /// The first reply brings both, and later ones none.
    @Test(arguments: StoreKind.allCases) func recoveryKeysComeWithTheFirstPin(_ kind: StoreKind) throws {
        let (provider, recovery, other) = (try Provider(), RecoveryKey(), RecoveryKey())
        try provider.store.setAnnouncedRecoveryKeys([recovery.publicKey], at: .start)
        let phone = try Installation(kind)
        #expect(try phone.launch(with: provider) == "register")
        #expect(try phone.store.recoveryKeys(ofProvider: "provider") == [recovery.publicKey])
        #expect(try phone.launch(with: provider) == "register-again(sender-changed, recovery-changed)")
        #expect(try provider.devices.map(\.recoveryKeys) == [[recovery.publicKey]])
        try provider.store.setAnnouncedRecoveryKeys([other.publicKey], at: .start)
        phone.circumstances.pushToken = [1]
        try phone.launch(with: provider)
        #expect(try phone.store.recoveryKeys(ofProvider: "provider") == [recovery.publicKey])
        #expect(phone.results.last?.foreign == [], "an earlier key of the provider's")
        try recover(provider, by: recovery)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        #expect(try phone.pin == provider.key.publicKey)
    }

    /// A reply that pins nothing brings no recovery key either, with or without a pin.
    @Test(arguments: StoreKind.allCases) func noRecoveryKeyComesWithoutItsPin(_ kind: StoreKind) throws {
        let (stranger, stolen) = (try Provider(), RecoveryKey().publicKey)
        try stranger.store.setAnnouncedRecoveryKeys([stolen], at: .start)
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([ProviderKey().publicKey])
        try phone.launch(with: stranger)
        #expect(try phone.store.recoveryKeys(ofProvider: "provider") == [])
        // Nor does one whose recovery key is a sender's key here.
        let other = try Installation(kind)
        let key = ProviderKey()
        try other.store.pinProvider(key.publicKey, named: "another", topic: .app, replace: false, at: .start)
        other.file = EnrolmentState().json
        let request = try #require(try begin(other).request)
        var state = try other.state
        let bytes = key.publicKey.bytes
        let same = try RecoveryPublicKey(bytes: bytes.span)
        let result = try other.enrolment.handle(
            RegistrationReply(
                .acknowledged(request.record.publicKey), sender: try stranger.key.publicKey, recoveryKeys: [same]),
            to: request, state: &state, at: .start)
        #expect(result.sender == .notAccepted(try stranger.key.publicKey))
        #expect(try other.store.recoveryKeys(ofProvider: "provider") == [])
    }

    /// The app's own replace any, also those of somebody who once controlled the channel.
    @Test(arguments: StoreKind.allCases) func builtInRecoveryKeysReplaceTheReplys(_ kind: StoreKind) throws {
        let (provider, thief) = (try Provider(), RecoveryKey())
        try provider.store.setAnnouncedRecoveryKeys([thief.publicKey], at: .start)
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        let own = RecoveryKey()
        phone.recoveryKeys = [own.publicKey]
        #expect(try phone.launch(with: provider) == "replace-recovery-keys, register-again(recovery-changed)")
        #expect(try phone.store.recoveryKeys(ofProvider: "provider") == [own.publicKey])
        #expect(phone.results.last?.foreign == [.recovery], "the provider does not know it yet")
        #expect(try phone.launch(with: provider) == "nothing")
        // A built-in sender has no others, even if none are built in.
        phone.recoveryKeys = []
        phone.firstTrust = .builtIn([try provider.key.publicKey])
        #expect(try phone.launch(with: provider) == "replace-recovery-keys, register-again(recovery-changed)")
        #expect(try phone.store.recoveryKeys(ofProvider: "provider") == [])
    }

    /// A pin that a built-in recovery key put in place stays; one by any other recovery key does not.
    @Test(arguments: StoreKind.allCases, [true, false])
    func aRecoveredPinStaysIfTheAppHasTheRecoveryKey(_ kind: StoreKind, _ isBuiltIn: Bool) throws {
        let (provider, recovery) = (try Provider(), RecoveryKey())
        let first = try provider.key.publicKey
        try provider.store.setAnnouncedRecoveryKeys([recovery.publicKey], at: .start)
        let phone = try Installation(kind)
        if isBuiltIn {
            phone.firstTrust = .builtIn([first])
            phone.recoveryKeys = [recovery.publicKey]
        }
        try phone.launch(with: provider)
        try recover(provider, by: recovery)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        let recovered = try provider.key.publicKey
        #expect(try phone.pin == recovered && recovered != first)
        // And a rotation after it.
        _ = try provider.store.rotateProviderKey(at: .start)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")

        let builtIn = ProviderKey().publicKey
        phone.firstTrust = .builtIn(isBuiltIn ? [first] : [builtIn])
        let plan = try phone.launch(with: provider)
        #expect(plan.contains("replace-sender") == !isBuiltIn && plan.contains("sender-replaced") == !isBuiltIn)
        #expect(try phone.pin == (isBuiltIn ? provider.key.publicKey : builtIn))
    }

    /// The first reply came from somebody who passed on the genuine key with a recovery key of his, and then recovered to
    /// a key of his: the genuine one stays revoked, and his must go as well.
    @Test(arguments: StoreKind.allCases) func aStrangersRecoveryDoesNotOutliveBuiltInKeys(_ kind: StoreKind) throws {
        let (provider, thief) = (try Provider(), RecoveryKey())
        let genuine = try provider.key.publicKey
        try provider.store.setAnnouncedRecoveryKeys([thief.publicKey], at: .start)
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try recover(provider, by: thief)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        let his = try provider.key.publicKey
        #expect(try phone.pin == his && his != genuine)

        phone.firstTrust = .builtIn([genuine])
        let plan = try phone.launch(with: provider)
        #expect(plan.hasPrefix("remove-sender(\(his.id)), replace-recovery-keys"))
        #expect(plan.hasSuffix("notice(sender-replaced)"))
        #expect(try phone.pin == nil)
        #expect(try phone.store.recoveryKeys(ofProvider: "provider") == [])
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "authentication-failed")
        // The next release brings a key that nobody has revoked.
        let next = ProviderKey().publicKey
        phone.firstTrust = .builtIn([genuine, next])
        phone.circumstances.pushToken = [1]
        try phone.launch(with: provider)
        #expect(try phone.pin == next)
    }

    // MARK: A change to built-in keys

    @Test(arguments: StoreKind.allCases) func aBuiltInKeyReplacesTheFirstReplys(_ kind: StoreKind) throws {
        let stranger = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: stranger)
        #expect(try phone.pin == stranger.key.publicKey)
        // The stranger has rotated since, which the phone knows from a message.
        _ = try stranger.store.rotateProviderKey(at: .start)
        #expect(try phone.receive(stranger.push(to: phone.device(), at: .start)) == "opened")
        let strangers = try phone.store.pinnedProviders().map(\.key)
        #expect(strangers.count == 2)

        let provider = try Provider()
        let current = try provider.key.publicKey
        phone.firstTrust = .builtIn([ProviderKey().publicKey, current])
        #expect(
            try phone.launch(with: provider)
                == "replace-sender(\(current.id)), register-again(sender-changed), notice(sender-replaced)")
        #expect(try phone.pin == current)
        for key in strangers {
            #expect(try phone.store.trust(for: .app).candidates(for: key.id, at: .start).isEmpty)
        }
        #expect(phone.results.last == EnrolmentResult(key: .acknowledged, sender: .trusted))
        #expect(try provider.devices.map(\.pinnedProvider) == [current])
        #expect(try phone.launch(with: provider) == "nothing")
    }

    @Test(arguments: StoreKind.allCases) func aPinThatABuiltInKeyLeadsToStays(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        let first = try provider.key.publicKey
        for _ in 0..<3 { _ = try provider.store.rotateProviderKey(at: .start) }
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened")
        let pin = try provider.key.publicKey
        #expect(try phone.pin == pin)
        for keys in [[first], [first, ProviderKey().publicKey], [pin], [pin, ProviderKey().publicKey]] {
            phone.firstTrust = .builtIn(keys)
            try phone.launch(with: provider)
            #expect(try phone.pin == pin)
        }
        // A thief has rotated the first key: a release without it ends what he made of it.
        let good = ProviderKey().publicKey
        phone.firstTrust = .builtIn([good])
        try phone.launch(with: provider)
        #expect(try phone.pin == good)
    }

    @Test(arguments: StoreKind.allCases) func aPinThatTheAppHasReplacedStays(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        let stolen = ProviderKey().publicKey
        phone.firstTrust = .builtIn([stolen])
        try phone.launch(with: provider)
        let current = try provider.key.publicKey
        try phone.store.pinProvider(current, named: "provider", topic: .app, replace: true, at: .start)
        #expect(try phone.launch(with: provider) == "register-again(sender-changed)")
        #expect(try phone.pin == current)
    }

    // MARK: Replies

    enum Wrong: CaseIterable { case unknownKey, retiringKey, replyToAnotherDevice }

    /// It confirms no key, pins no sender, and leaves the state as it is.
    @Test(arguments: StoreKind.allCases, Wrong.allCases)
    func aReplyAboutAnotherKeyChangesNothing(_ kind: StoreKind, _ wrong: Wrong) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        let old = try #require(try begin(phone).request)
        try phone.launch(with: provider)
        try phone.store.unpinProvider(named: "provider")
        _ = try phone.store.rotateDeviceKey(named: "default", at: .start)
        let work = try begin(phone)
        var request = try #require(work.request)
        #expect(request.record.generation == 2)
        let acknowledged: DevicePublicKey
        switch wrong {
        case .unknownKey: acknowledged = DeviceKey().publicKey
        case .retiringKey: acknowledged = old.record.publicKey
        case .replyToAnotherDevice:
            // The key is that of the request: only its device is not the one that is enrolled now.
            let other = try Installation(kind)
            request = EnrolmentRequest(record: try #require(try begin(other).request).record, report: request.report)
            acknowledged = request.record.publicKey
        }
        var state = work.state
        let result = try phone.enrolment.handle(
            RegistrationReply(.acknowledged(acknowledged), sender: provider.key.publicKey), to: request, state: &state,
            at: .start)
        #expect(result == EnrolmentResult(key: .anotherKey, sender: .none))
        #expect(state == work.state)
        #expect(try phone.keys().map(\.state) == [.active, .pending])
        #expect(try phone.pin == nil)
    }

    /// An operator fixes that; nothing on the phone can.
    @Test(arguments: StoreKind.allCases) func aRefusalForAnotherReasonChangesNothing(_ kind: StoreKind) throws {
        let phone = try Installation(kind)
        let work = try begin(phone)
        let request = try #require(work.request)
        let refusals: [RegistrationReply.Refusal?] = [.topicMismatch, .init("over-quota")]
        for refusal in refusals.compactMap({ $0 }) {
            var state = work.state
            let result = try phone.enrolment.handle(
                RegistrationReply(.refused(refusal), sender: ProviderKey().publicKey), to: request, state: &state,
                at: .start)
            #expect(result == EnrolmentResult(key: .refused(refusal), sender: .none))
            #expect(state == work.state)
        }
        #expect(try phone.pin == nil)
    }

    private func begin(_ phone: Installation) throws -> EnrolmentWork {
        guard case .plan(let plan) = phone.reconcile(at: .start) else { throw Unexpected() }
        let work = try phone.enrolment.begin(plan, at: .start)
        phone.file = work.state.json
        return work
    }
}
