import ModelKeychain
import Pushcrypt
import Testing

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// The two kinds of key stores that a device has.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case sqlite, keychain

    var testDescription: String { rawValue }

    /// The storage of one phone's keys.
    func make() throws -> any DeviceKeyStore {
        switch self {
        case .sqlite: try SQLiteKeyStore.inMemory()
        case .keychain:
            KeychainKeyStore(
                items: ModelKeychain().process("group.app"), accessGroup: "group.app", service: "pushcrypt")
        }
    }
}

/// A fault during a launch.
enum Mishap: CaseIterable {
    case nothing
    /// The process is killed after the device's part, before the state is saved.
    case killedBeforeSaving
    /// The record never reaches the provider.
    case recordLost
    /// The provider has the record, its reply is lost.
    case replyLost
    /// The process is killed with the reply in hand, before the state is saved.
    case killedWithReply
    /// The store does not take the acknowledgement.
    case storeFailsAtReply
}

/// An app on a phone: its key store, its state file, and what it does at a launch.
final class Installation {
    /// Survives the app's removal.
    var store: FailingStore
    /// The state file in the app's container.
    var file: Bytes?
    var fileIsReadable = true
    var account = "default"
    var firstTrust = FirstTrust.firstReply
    var policy = EnrolmentPolicy()
    var circumstances = EnrolmentCircumstances(
        appVersion: AppVersion("1.0"), pushToken: Bytes(repeating: 0xA7, count: 32))
    private(set) var results: [EnrolmentResult] = []

    init(_ kind: StoreKind) throws { store = FailingStore(try kind.make()) }

    var enrolment: Enrolment<FailingStore> {
        Enrolment(
            store: store, account: account, topic: .app, firstTrust: firstTrust, policy: policy)
    }

    var saved: SavedEnrolment {
        guard let file else { return .none }
        return fileIsReadable ? .text(file) : .unreadable
    }

    var state: EnrolmentState { get throws { try EnrolmentState(json: #require(file)) } }

    /// The id under which the provider keeps the account.
    func device(_ account: String = "default") throws -> String {
        try #require(state.account(account)).device
    }

    func reconcile(at now: Timestamp) -> Reconciliation { enrolment.reconcile(saved, in: circumstances, at: now) }

    /// One launch, as the app writes it; gives what was planned.
    @discardableResult
    func launch(with provider: Provider, _ mishap: Mishap = .nothing, at now: Timestamp = .start) throws -> String {
        guard case .plan(let plan) = reconcile(at: now) else { return "\(reconcile(at: now))" }
        var work = try enrolment.begin(plan, at: now)
        if mishap == .killedBeforeSaving { return plan.description }
        file = work.state.json
        if let request = work.request, mishap != .recordLost {
            let reply = try provider.answer(request.record.json, at: now)
            if mishap == .replyLost { return plan.description }
            if mishap == .storeFailsAtReply { store.fail(with: KeyStoreError(.diskFull, ""), onlyWrites: true) }
            defer { store.fail(with: nil) }
            do {
                let result = try enrolment.handle(
                    RegistrationReply(json: reply), to: request, state: &work.state, at: now)
                results.append(result)
            } catch let error as KeyStoreError {
                #expect(mishap == .storeFailsAtReply, "\(error)")
            }
            if mishap == .killedWithReply { return plan.description }
            file = work.state.json
        }
        for withdrawal in work.state.withdrawals {
            _ = try provider.store.removeDevice(id: withdrawal.device, at: now)
            work.state.removeWithdrawal(of: withdrawal.device)
        }
        file = work.state.json
        return plan.description
    }

    func logOut(at now: Timestamp = .start) throws {
        if let state = try enrolment.logOut(saved) { file = state.json }
    }

    // MARK: Pushes

    /// The pins of the account.
    var pins: [ProviderPublicKey] { get throws { try trust.pinned } }

    var trust: ProviderTrust { get throws { try store.trust(for: .app, account: account) } }

    /// The highest certificate that the account knows of its first pin.
    var certificate: Certificate? { get throws { try trust.pins.first?.learned.certificate } }

    func keys(_ account: String = "default") throws -> [DeviceKeyRecord] {
        try store.deviceKeys().filter { $0.name == account }
    }

    /// `opened`, or why not.
    func receive(_ push: Bytes, at now: Timestamp = .start) throws -> String {
        let folder = try TemporaryFolder()
        let receiver = NotificationReceiver(
            keys: store, effects: store, database: ExtensionDatabase(in: folder.path), topic: .app)
        return receiver.receive(push, requestID: nil, at: now).code
    }
}

extension Provider {
    /// Answers a record as it came over the network.
    func answer(_ record: Bytes, at now: Timestamp) throws -> Bytes {
        let registration = try DeviceRegistration(json: record)
        let id = try #require(registration.deviceID)
        var verdict = RegistrationReply.Verdict.acknowledged(registration.publicKey)
        do throws(KeyStoreError) {
            try store.addDevice(registration, id: id, owner: user.map { .user($0) } ?? .unchanged, at: now)
        } catch {
            verdict = .refused(try #require(.init(error.code.description)))
        }
        let record = try store.providerKey()
        return RegistrationReply(
            verdict, provider: record.publicKey, certificate: record.certificate,
            foreign: try store.foreignMemberTest()(registration.pinnedProvider), suites: suites
        ).json
    }

    var devices: [DeviceRecord] {
        get throws {
            var devices: [DeviceRecord] = []
            try store.forEachDevice { devices.append(try $0.get()) }
            return devices
        }
    }
}
