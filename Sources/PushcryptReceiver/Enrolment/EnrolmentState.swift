internal import Pushcrypt

/// What an installation of the app remembers of its registrations; it holds no secret and no push token.
///
/// The app keeps it as a file in its own container, which goes with the app while the Keychain stays: a device key without
/// this file was left by an earlier installation. Best kept out of backups, under the protection
/// `completeUntilFirstUserAuthentication`, and replaced in one step (`Data.WritingOptions.atomic`).
public struct EnrolmentState: Hashable, Sendable {
    /// What the provider has been told about one account.
    struct Report: Hashable, Sendable {
        var publicKey: DevicePublicKey
        var sender: SenderPublicKey?
        var appVersion: AppVersion?
        /// A digest of the push token; nil when none was known.
        var token: String?
        var alertsAreShown: Bool
    }

    /// What the provider has acknowledged, and when.
    struct Acknowledgement: Hashable, Sendable {
        var report: Report
        var at: Timestamp
    }

    /// One account's registration.
    struct Account: Hashable, Sendable {
        let name: String
        /// The id under which the provider keeps this account of this installation.
        let device: String
        var acknowledged: Acknowledgement?
    }

    /// The most registrations that wait to be withdrawn.
    static let maximumWithdrawals = 64

    var accounts: [Account] = []

    /// Device ids that the provider should forget, oldest first: the app tells it, and then calls `removeWithdrawal(of:)`.
    public internal(set) var withdrawals: [String] = []

    /// Starts with nothing: for an app that has used its key store without enrolment before, and wants to keep those keys.
    public init() {}

    /// Notes that the provider has forgotten a device.
    public mutating func removeWithdrawal(of device: String) { withdrawals.removeAll { $0 == device } }

    // MARK: Accounts

    func account(_ name: String) -> Account? { index(of: name).map { accounts[$0] } }

    private func index(of name: String) -> Int? { accounts.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }

    /// The device id of an account, which gets one if it has none.
    mutating func deviceID(of name: String) -> String {
        if let account = account(name) { return account.device }
        // 16 random bytes: no other installation has the same.
        let device = Sodium.randomBytes(16).hex
        accounts.append(Account(name: name, device: device))
        return device
    }

    mutating func acknowledge(_ report: Report, by name: String, at now: Timestamp) {
        guard let index = index(of: name) else { return }
        accounts[index].acknowledged = Acknowledgement(report: report, at: now)
    }

    /// Forgets an account.
    ///
    /// - Parameter withdrawing: whether the provider should forget the device too; not when another phone may live on
    ///   under its id.
    mutating func remove(_ name: String, withdrawing: Bool) {
        guard let index = index(of: name) else { return }
        let account = accounts.remove(at: index)
        guard withdrawing else { return }
        withdrawals.append(account.device)
        withdrawals.removeFirst(max(0, withdrawals.count - Self.maximumWithdrawals))
    }
}

extension EnrolmentState.Report {
    /// Tells one push token from another, and cannot be turned back into it.
    static func digest(ofToken token: ContiguousArray<UInt8>) -> String {
        ContiguousArray(SHA256.digest(token.span).prefix(16)).hex
    }
}
