import Foundation
import UserNotifications

/// The values passed to a handler on any thread.
final class Record<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [Value] = []

    var values: [Value] { lock.withLock { list } }

    func add(_ value: Value) { lock.withLock { list.append(value) } }
}

/// A directory that is removed with the test.
final class Scratch {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("standins-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Creates a file, sparse if it is long.
    func file(_ name: String, size: UInt64 = 8) throws -> URL {
        let file = url.appendingPathComponent(name)
        try Data("8 bytes.".utf8).write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: size)
        try handle.close()
        return file
    }
}

extension UNNotificationRequest {
    /// A push as the system delivers it.
    static func push(
        _ identifier: String = "1", title: String = "", body: String = "", category: String = "",
        userInfo: [AnyHashable: Any] = [:]
    ) -> UNNotificationRequest {
        let content = UNMutableNotificationContent()
        content.title = title
        content.body = body
        content.categoryIdentifier = category
        content.userInfo = userInfo
        return UNNotificationRequest(identifier: identifier, content: content, trigger: UNPushNotificationTrigger())
    }
}

extension UNNotification {
    static func pushed(_ request: UNNotificationRequest) -> UNNotification {
        UNNotification(date: Date(timeIntervalSince1970: 1_800_000_000), request: request)
    }
}
