internal import Pushcrypt
internal import PushcryptCommandKit

/// Rules for a notification service extension's property list and sources.
struct ServiceExtensionRules {
    static let encryptedBaseClass = "EncryptedNotificationService"
    private static let baseClasses = ["UNNotificationServiceExtension", encryptedBaseClass]

    let target: IOSProject.Extension

    var findings: [Finding] {
        switch PrincipalClass(of: target) {
        case .missing:
            return [
                .error(
                    target.file, "NSExtension has no NSExtensionPrincipalClass, so the system starts nothing",
                    fix: "add it as a string, for example \(PrincipalClass.example("NotificationService"))")
            ]
        case .malformed(let finding): return [finding]
        case .named(let name, let warning):
            return (warning.map { [$0] } ?? []) + (baseFinding(name).map { [$0] } ?? [])
        }
    }

    private func baseFinding(_ name: String) -> Finding? {
        let classes = target.classes
        guard classes.declared.contains(name) else { return PrincipalClass.unknown(name, target) }
        let ancestors = classes.ancestors(of: name)
        if !ancestors.isDisjoint(with: Self.baseClasses) { return nil }
        let wanted = Self.baseClasses.joined(separator: " or ")
        guard let base = ancestors.subtracting(classes.declared).subtracting(["NSObject"]).sorted().first else {
            return .error(
                target.file, "the class \(name) does not inherit from a service extension class",
                fix: "inherit \(wanted)")
        }
        return .warning(
            target.file,
            "\(name) inherits \(base), which is not in these sources, so it is unknown whether it is a service extension",
            fix: "nothing if \(base) inherits \(wanted)")
    }
}

/// The class of an extension's principal object.
enum PrincipalClass {
    case missing
    case malformed(Finding)
    /// The name without the module, and findings about it.
    case named(String, Finding?)

    static func example(_ name: String) -> String { "$(PRODUCT_MODULE_NAME).\(name)" }

    init(of target: IOSProject.Extension) {
        guard let value = target.info["NSExtension"]?["NSExtensionPrincipalClass"] else {
            self = .missing
            return
        }
        guard let text = value.string, let name = text.split(separator: ".").last.map(String.init), !text.hasSuffix(".")
        else {
            self = .malformed(
                .error(
                    target.file, "NSExtensionPrincipalClass is not the name of a class",
                    fix: "make it a string, for example \(Self.example("NotificationService"))"))
            return
        }
        let module = text.dropLast(name.utf8.count)
        if ["$(PRODUCT_MODULE_NAME).", "${PRODUCT_MODULE_NAME}."].contains(module)
            || target.classes.objectiveCNames.contains(name) || target.classes.declared.isEmpty && module.isEmpty
        {
            self = .named(name, nil)
        } else if module.isEmpty {
            self = .named(
                name,
                .error(
                    target.file,
                    "NSExtensionPrincipalClass is \(quoted(text)), but the system finds a Swift class only with its module's name",
                    fix: "write \(Self.example(name)), or give the class @objc(\(name))"))
        } else {
            self = .named(
                name,
                .warning(
                    target.file,
                    "NSExtensionPrincipalClass names its module itself (\(quoted(text))), and breaks if the target is renamed",
                    fix: "write \(Self.example(name))"))
        }
    }

    /// The finding for a class that is not in the sources; nil if there are no sources, or if the name is for Objective-C.
    static func unknown(_ name: String, _ target: IOSProject.Extension) -> Finding? {
        if target.classes.declared.isEmpty || target.classes.objectiveCNames.contains(name) { return nil }
        let near = nearestName(to: name, among: target.classes.declared.sorted())
        return .error(
            target.file, "there is no class \(name) in the Swift sources beside it",
            fix: near.map { "write \(example($0)), if that is the one" }
                ?? "add the class, or name the one that is there")
    }
}
