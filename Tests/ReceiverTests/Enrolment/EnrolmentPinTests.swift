import Pushcrypt
import PushcryptKeyStore
import Testing

@testable import PushcryptReceiver

/// The provider keys that an app builds in, and how a release changes them.
@Suite struct EnrolmentPinTests {
    @Test(arguments: StoreKind.allCases) func aBuiltInKeyIsPinnedBeforeAnythingIsSent(_ kind: StoreKind) throws {
        let provider = try Provider()
        let certificate = try provider.rotate(at: .start)
        let key = try provider.key.publicKey
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([ProviderPin(key, certificate: certificate)])
        #expect(try phone.launch(with: provider, .recordLost) == "pin(\(key.id)), register")
        #expect(try phone.pins == [key] && phone.certificate == certificate)
        #expect(try phone.launch(with: provider) == "register")
        #expect(phone.results.map(\.provider) == [.trusted])
        #expect(try provider.devices.map(\.pinnedProvider) == [key])
        #expect(try phone.launch(with: provider) == "nothing")
    }

    /// Controlling the channel once does not help against an app with a built-in key.
    @Test(arguments: StoreKind.allCases) func aReplyDoesNotReplaceABuiltInKey(_ kind: StoreKind) throws {
        let provider = try Provider()
        let builtIn = ProviderKey().publicKey
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([ProviderPin(builtIn)])
        try phone.launch(with: provider)
        #expect(
            phone.results == [
                EnrolmentResult(
                    key: .acknowledged, provider: .notAccepted(try provider.key.publicKey), foreign: [.provider])
            ])
        #expect(try phone.pins == [builtIn])
    }

    /// The next launch brings the pin back.
    @Test(arguments: StoreKind.allCases) func aReplyPinsNothingAfterABuiltInKeyWasLost(_ kind: StoreKind) throws {
        let provider = try Provider()
        let builtIn = ProviderKey().publicKey
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([ProviderPin(builtIn)])
        guard case .plan(let plan) = phone.reconcile(at: .start) else {
            Issue.record("there is no plan")
            return
        }
        var work = try phone.enrolment.begin(plan, at: .start)
        let request = try #require(work.request)
        let reply = try RegistrationReply(json: provider.answer(request.signed.body, at: .start))
        #expect(try phone.store.unpinProvider(builtIn, for: "default"))
        let result = try phone.enrolment.handle(reply, to: request, state: &work.state, at: .start)
        #expect(result.provider == .notAccepted(try provider.key.publicKey))
        #expect(try phone.pins == [])
    }

    /// The key that once signed messages was stolen, and ended before the release was built: it never opens on a new phone.
    @Test(arguments: StoreKind.allCases) func aBuiltInCertificateEndsWhatItEnds(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        let certificate = try provider.key.certified(epoch: 5, floor: 5).certificate
        phone.firstTrust = .builtIn([ProviderPin(try provider.key.publicKey, certificate: certificate)])
        try phone.launch(with: provider)
        #expect(try phone.receive(provider.push(to: phone.device(), at: .start)) == "authentication-failed")
    }

    // MARK: Releases

    @Test(arguments: StoreKind.allCases) func aReleaseChangesTheKeyInTwoSteps(_ kind: StoreKind) throws {
        let (old, new) = (try Provider(), try Provider())
        let keys = (old: try old.key.publicKey, new: try new.key.publicKey)
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([ProviderPin(keys.old)])
        try phone.launch(with: old)
        let record = try #require(try registration(of: phone, at: old))
        try new.store.addDevice(record, id: phone.device(), at: .start)
        func opens(_ provider: Provider) throws -> Bool {
            try phone.receive(provider.push(to: phone.device(), at: .start)) == "opened"
        }
        #expect(try opens(old) && !opens(new))

        phone.firstTrust = .builtIn([ProviderPin(keys.new), ProviderPin(keys.old)])
        #expect(
            try phone.launch(with: old) == "pin(\(keys.new.id), \(keys.old.id)), register-again(provider-changed)")
        #expect(try opens(old) && opens(new))
        #expect(try old.devices.map(\.pinnedProvider) == [keys.new])
        #expect(try phone.launch(with: old) == "nothing")

        phone.firstTrust = .builtIn([ProviderPin(keys.new)])
        #expect(try phone.launch(with: new) == "pin(\(keys.new.id))")
        #expect(try !opens(old) && opens(new))
        #expect(try phone.launch(with: new) == "nothing")
    }

    private func registration(of phone: Installation, at provider: Provider) throws -> DeviceRegistration? {
        try provider.store.device(id: phone.device()).map {
            DeviceRegistration(publicKey: $0.publicKey, topic: .app, generation: $0.generation, createdAt: .start)
        }
    }

    /// A stranger answered first; a release with the provider's key drops him.
    @Test(arguments: StoreKind.allCases) func aBuiltInKeyReplacesTheFirstReplys(_ kind: StoreKind) throws {
        let stranger = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: stranger)
        #expect(try phone.pins == [stranger.key.publicKey])
        let provider = try Provider()
        let key = try provider.key.publicKey
        phone.firstTrust = .builtIn([ProviderPin(key)])
        #expect(
            try phone.launch(with: provider)
                == "pin(\(key.id)), register-again(provider-changed), notice(provider-replaced)")
        #expect(try phone.pins == [key])
        #expect(try phone.receive(stranger.push(to: phone.device(), at: .start)) == "authentication-failed")
        #expect(try phone.launch(with: provider) == "nothing")
    }

    /// The key of the first reply is the one that the app now builds in.
    @Test(arguments: StoreKind.allCases) func theSameKeyBuiltInIsNoReplacement(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        try phone.launch(with: provider)
        try phone.launch(with: provider)
        phone.firstTrust = .builtIn([ProviderPin(try provider.key.publicKey)])
        #expect(try phone.launch(with: provider) == "nothing")
    }

    /// A pin that is not built in goes at the next launch.
    @Test(arguments: StoreKind.allCases) func onlyTheBuiltInKeysStay(_ kind: StoreKind) throws {
        let provider = try Provider()
        let key = try provider.key.publicKey
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([ProviderPin(key)])
        try phone.launch(with: provider)
        try phone.store.pinProvider(ProviderPin(ProviderKey().publicKey), for: "default", topic: .app, at: .start)
        #expect(try phone.pins.count == 2)
        #expect(try phone.launch(with: provider) == "pin(\(key.id))")
        #expect(try phone.pins == [key])
    }

    // MARK: Certificates

    @Test(arguments: StoreKind.allCases) func aReleaseBringsALaterCertificate(_ kind: StoreKind) throws {
        let provider = try Provider()
        let key = try provider.key
        let phone = try Installation(kind)
        phone.firstTrust = .builtIn([ProviderPin(key.publicKey)])
        try phone.launch(with: provider)
        let certificates = try [7, 9].map { try key.certified(epoch: $0, floor: 7).certificate }
        for certificate in certificates {
            phone.firstTrust = .builtIn([ProviderPin(key.publicKey, certificate: certificate)])
            #expect(try phone.launch(with: provider) == "pin(\(key.publicKey.id))")
            #expect(try phone.certificate == certificate)
            #expect(try phone.launch(with: provider) == "nothing")
        }
        // An earlier release again takes nothing back.
        phone.firstTrust = .builtIn([ProviderPin(key.publicKey, certificate: certificates[0])])
        #expect(try phone.launch(with: provider) == "nothing")
        #expect(try phone.certificate == certificates[1])
    }

    @Test(arguments: StoreKind.allCases) func aContradictionOfTheBuiltInCertificateIsTold(_ kind: StoreKind) throws {
        let provider = try Provider()
        let key = try provider.key
        let phone = try Installation(kind)
        let both = try [key.certified(epoch: 7), key.certified(epoch: 7)].map(\.certificate)
        phone.firstTrust = .builtIn([ProviderPin(key.publicKey, certificate: both[0])])
        try phone.launch(with: provider)
        phone.firstTrust = .builtIn([ProviderPin(key.publicKey, certificate: both[1])])
        #expect(try phone.launch(with: provider).hasSuffix("notice(certificate-conflict)"))
        #expect(try phone.certificate == both.max())
    }

    /// A mistake of the release: it registers nothing and pins nothing.
    @Test(arguments: StoreKind.allCases) func aBuiltInCertificateOfAnotherKeyIsAnError(_ kind: StoreKind) throws {
        let provider = try Provider()
        let phone = try Installation(kind)
        let pins = try [
            ProviderPin(provider.key.publicKey, certificate: ProviderKey().certified(epoch: 1).certificate),
            ProviderPin(
                provider.key.publicKey, certificate: provider.key.certified(epoch: 1, topic: .other).certificate),
        ]
        for pin in pins {
            phone.firstTrust = .builtIn([pin])
            #expect(throws: KeyStoreError(.badCertificateSignature, "")) { try phone.launch(with: provider) }
            // Without keys the Keychain has no pins to tell.
            #expect((try? phone.pins).map(\.isEmpty) != false)
            #expect(try provider.devices.isEmpty)
        }
    }
}
