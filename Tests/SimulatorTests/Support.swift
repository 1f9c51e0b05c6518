import DeviceSimulator
import Dispatch
import Foundation
import PushcryptKeyStore
import UserNotifications
import Waiting

/// An extension with a test's behaviour.
final class ScriptedExtension: UNNotificationServiceExtension {
    typealias Handler = (UNNotificationContent) -> Void

    private let receive: @Sendable (UNNotificationRequest, @escaping Handler) -> Void
    private let expire: @Sendable () -> Void

    init(
        _ receive: @escaping @Sendable (UNNotificationRequest, @escaping Handler) -> Void,
        expire: @escaping @Sendable () -> Void = {}
    ) {
        self.receive = receive
        self.expire = expire
        super.init()
    }

    override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping Handler
    ) {
        receive(request, contentHandler)
    }

    override func serviceExtensionTimeWillExpire() { expire() }
}

extension SimulatedDevice {
    /// A device whose extension applies `change` to each push and delivers it.
    static func changing(
        _ change: @escaping @Sendable (UNMutableNotificationContent) -> Void = { _ in }
    ) -> SimulatedDevice {
        SimulatedDevice(clock: .simulated(stillClock())) {
            ScriptedExtension { request, deliver in
                let content = request.content.mutableCopy() as? UNMutableNotificationContent
                guard let content else { return }
                change(content)
                deliver(content)
            }
        }
    }
}

/// A clock that only the test advances, so that a busy machine makes nothing late.
///
/// A wait in vain ends after 300 turns: then time passes after all.
func stillClock() -> SimulatedClock {
    let clock = SimulatedClock(patience: .infinity)
    Task { [weak clock] in
        for _ in 0..<300 {
            await turn(milliseconds: 200)
            if clock == nil { return }
        }
        clock?.advance(by: 100)
    }
    return clock
}

/// Notes of several threads.
final class Notebook<Element>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    func add(_ element: Element) { lock.withLock { elements.append(element) } }
    var all: [Element] { lock.withLock { elements } }

    /// The notes, once there are so many; fewer if they do not come.
    func all(_ count: Int) async -> [Element] {
        await eventually { all.count >= count }
        return all
    }
}

/// Passes a value to another thread, which alone uses it from then on.
struct Handed<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// The main thread, identified by its queue: on Linux the queue may run on any thread.
enum Main {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isHere: Bool { DispatchQueue.getSpecific(key: key) ?? false }
}

/// A push with text, which an extension may change.
func alert(_ body: String, aps: String = "", collapseID: String? = nil) -> APNsPush {
    let rest = aps.isEmpty ? "" : "," + aps
    return APNsPush(
        json: #"{"aps":{"mutable-content":1,"alert":{"title":"Title","subtitle":"Sub","body":"\#(body)"}\#(rest)}}"#,
        collapseID: collapseID)
}
