public import Pushcrypt

/// A text that is no enrolment state of this version. Equal when the codes are equal.
public struct EnrolmentStateError: CodedError {
    /// What is wrong with it.
    public struct Code: Hashable, Sendable, CaseIterable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case newerState = "newer-enrolment"
            case damagedState = "damaged-enrolment"
        }

        private let known: Known

        /// A newer version of the app has written it.
        public static let newerState = Code(known: .newerState)
        /// It is not what was written: cut off, or changed.
        public static let damagedState = Code(known: .damagedState)

        /// Every code.
        public static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `newer-enrolment`.
        public var description: String { known.rawValue }
    }

    /// What is wrong.
    public let code: Code
    /// What happened, and what to do.
    public let description: String

    static let newer = EnrolmentStateError(
        code: .newerState,
        description: "a newer version of the app has written the enrolment state: leave it, and update the app")
    static let damaged = EnrolmentStateError(
        code: .damagedState,
        description: "the enrolment state is damaged: write it in one step; every account registers again")
}

// One object:
//
//     {"version":1,
//      "accounts":[{"name":"…","device":"32 hex digits",
//                   "acknowledged":{"public_key":"pcr1…","sender":"pcs1…","app_version":"…","token":"32 hex digits",
//                                   "alerts":true,"at":…}}],
//      "withdrawals":["32 hex digits"]}
extension EnrolmentState {
    private static let version = 1

    /// Reads what `json` has written; throws `newerState` or `damagedState`.
    public init(json: ContiguousArray<UInt8>) throws(EnrolmentStateError) {
        guard let root = try? JSONDocument(parsing: json).root, let version = root["version"]?.integer, version >= 1
        else { throw .damaged }
        guard version == Self.version else { throw .newer }
        guard let accounts = root["accounts"], accounts.kind == .array, let withdrawals = root["withdrawals"],
            withdrawals.kind == .array
        else { throw .damaged }
        self.init()
        for value in accounts.elements {
            let account = try Account(value)
            guard self.account(account.name) == nil else { throw .damaged }
            self.accounts.append(account)
        }
        for value in withdrawals.elements {
            guard let device = value.string else { throw .damaged }
            self.withdrawals.append(device)
        }
    }

    /// The state as minified JSON.
    public var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.integer(Self.version, for: "version")
            json.array(for: "accounts") { json in for account in accounts { account.write(to: &json) } }
            json.array(for: "withdrawals") { json in for device in withdrawals { json.string(device) } }
        }
        return json.bytes
    }
}

extension EnrolmentState.Account {
    fileprivate init(_ value: JSONValue) throws(EnrolmentStateError) {
        guard let name = value["name"]?.string, let device = value["device"]?.string else { throw .damaged }
        self.init(name: name, device: device)
        if let value = value["acknowledged"] { acknowledged = try EnrolmentState.Acknowledgement(value) }
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.string(name, for: "name")
            json.string(device, for: "device")
            guard let acknowledged else { return }
            let report = acknowledged.report
            json.object(for: "acknowledged") { json in
                json.string(report.publicKey.description, for: "public_key")
                if let sender = report.sender { json.string(sender.description, for: "sender") }
                if let version = report.appVersion { json.string(version.description, for: "app_version") }
                if let token = report.token { json.string(token, for: "token") }
                json.bool(report.alertsAreShown, for: "alerts")
                json.integer(acknowledged.at.milliseconds, for: "at")
            }
        }
    }
}

extension EnrolmentState.Acknowledgement {
    fileprivate init(_ value: JSONValue) throws(EnrolmentStateError) {
        guard let publicKey = value["public_key"]?.string.flatMap(DevicePublicKey.init),
            let alertsAreShown = value["alerts"]?.bool, let at = value["at"]?.integer.flatMap(UInt64.init(exactly:))
        else { throw .damaged }
        report = EnrolmentState.Report(
            publicKey: publicKey, sender: try value.read("sender", SenderPublicKey.init),
            appVersion: try value.read("app_version", AppVersion.init), token: try value.read("token") { $0 },
            alertsAreShown: alertsAreShown)
        self.at = Timestamp(milliseconds: at)
    }
}

extension JSONValue {
    /// A member that may be absent, but not be anything else than what `parse` takes.
    fileprivate func read<R>(_ name: String, _ parse: (String) -> R?) throws(EnrolmentStateError) -> R? {
        guard let value = self[name] else { return nil }
        guard let result = value.string.flatMap(parse) else { throw .damaged }
        return result
    }
}
