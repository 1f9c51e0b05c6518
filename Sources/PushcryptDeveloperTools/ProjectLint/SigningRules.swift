internal import Pushcrypt
internal import PushcryptCommandKit

/// Rules for what the signature gives each target, and for the systems that it is built for.
struct SigningRules {
    private static let push = "aps-environment"
    private static let macPush = "com.apple.developer.aps-environment"
    private static let sandbox = "com.apple.security.app-sandbox"

    let installed: Installed

    var findings: [Finding] {
        installed.all.compactMap(entitlementFinding) + pushFindings(installed.app)
            + installed.extensions.compactMap(versionFinding)
    }

    private func entitlementFinding(_ built: Built) -> Finding? {
        guard let list = built.entitlements else { return nil }
        guard let values = list.values else {
            // A content extension may need only its notification.
            if built.kind == .content { return nil }
            let effect =
                built.kind == .app ? "gets no push and shares no keys" : "can read neither the keys nor the app group"
            return .error(
                list.file, "\(built.name) is signed without entitlements, so it \(effect)",
                fix: "set CODE_SIGN_ENTITLEMENTS to its .entitlements file, for every configuration")
        }
        let isSandboxed = values[Self.sandbox]?.bool == true || built.settings["ENABLE_APP_SANDBOX"] == "YES"
        guard built.kind != .app, built.settings.isForMac, !isSandboxed, !built.settings.isIncomplete else {
            return nil
        }
        return .error(
            list.file, "\(built.name) has no \(Self.sandbox), so macOS does not start it",
            fix: "add the capability App Sandbox, with outgoing connections if notifications have attachments")
    }

    /// A Mac has another name for the entitlement, also for an app of Catalyst.
    private func pushFindings(_ app: Built) -> [Finding] {
        guard let list = app.entitlements, let values = list.values else { return [] }
        let names = (app.settings.isForPhone ? [Self.push] : []) + (app.settings.isForMac ? [Self.macPush] : [])
        return names.filter { values[$0] == nil }.map {
            .error(
                list.file, "\(app.name) has no \($0), so it gets no push\($0 == Self.macPush ? " on a Mac" : "")",
                fix: "add the capability Push Notifications, or \($0) with the value development")
        }
    }

    private func versionFinding(_ built: Built) -> Finding? {
        guard let own = version(built), let others = version(installed.app), let info = built.info,
            others.lexicographicallyPrecedes(own)
        else { return nil }
        return .error(
            info.file,
            "\(built.name) needs a later iOS than \(installed.app.name), so on the versions in between no push is opened",
            fix: "set IPHONEOS_DEPLOYMENT_TARGET of both to the same")
    }

    /// The numbers of a version, in which 15.0 equals 15.
    private func version(_ built: Built) -> [Int]? {
        let parts = built.settings["IPHONEOS_DEPLOYMENT_TARGET"]?.split(separator: ".").map { Int($0) }
        guard var numbers = parts?.compactMap(\.self), numbers.count == parts?.count else { return nil }
        while numbers.last == 0 { numbers.removeLast() }
        return numbers
    }
}

extension Settings {
    private var platforms: [Substring] {
        "\(self["SDKROOT"] ?? "") \(self["SUPPORTED_PLATFORMS"] ?? "")".split(separator: " ")
    }

    fileprivate var isForMac: Bool { platforms.contains("macosx") || self["SUPPORTS_MACCATALYST"] == "YES" }
    fileprivate var isForPhone: Bool { platforms.contains("iphoneos") || !platforms.contains("macosx") }
}
