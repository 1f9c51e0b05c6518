internal import UserNotifications

/// How loudly a notification calls for attention, under the names that payloads use.
public enum Interruption: String, CaseIterable, Hashable, Sendable {
    /// Into the list, without sound and without lighting the screen.
    case passive
    /// As most notifications.
    case active
    /// At once, also through a Focus.
    case timeSensitive = "time-sensitive"
    /// Also when the device is silenced.
    case critical

    var level: UNNotificationInterruptionLevel {
        switch self {
        case .passive: .passive
        case .active: .active
        case .timeSensitive: .timeSensitive
        case .critical: .critical
        }
    }

    init(_ level: UNNotificationInterruptionLevel) {
        self = Self.allCases.first { $0.level == level } ?? .active
    }
}
