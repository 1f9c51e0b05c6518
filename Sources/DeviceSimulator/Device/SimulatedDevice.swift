internal import Foundation
internal import PushcryptKeyStore
public import UserNotifications

/// A simulated device. It receives a push, runs the app's service extension and reports what the user saw.
///
/// Like the system, it decides whether the extension runs. It creates a new extension object for each push, calls it
/// off the main thread, several at once, all in one process. It tells the extension when its thirty seconds are almost
/// over, accepts the first delivery, counts the others, and shows the push as received if there is no delivery. It also
/// has the system's settings, lock state, list of notifications, categories, responses and content extensions.
///
///     import DeviceSimulator
///     import Pushcrypt
///     import PushcryptKeyStore
///     import Testing
///
///     @Suite struct NotificationServiceTests {
///         let provider = ProviderKey()
///         let keys: MemoryDeviceStore
///         let topic: Topic
///         let clock = SimulatedClock()
///
///         init() throws {
///             topic = try Topic("com.example.app")
///             var state = DeviceState()
///             try state.add(topic: topic, at: now)
///             try state.pin(ProviderPin(provider.publicKey))
///             keys = MemoryDeviceStore(state)
///         }
///
///         func push(_ payload: String) throws -> APNsPush {
///             let key = try keys.state().accounts[0].keys[0].publicKey
///             return APNsPush(try Sealer(provider: provider, topic: topic).seal(Sealer.Message(payload.utf8), to: key, at: now).json)
///         }
///
///         @Test func aSealedMessageIsShownOpened() async throws {
///             // `NotificationService` is the app's extension; here it uses the test's key store.
///             let device = SimulatedDevice { [keys] in NotificationService(keys: keys) }
///             let outcome = await device.push(try push(#"{"aps":{"alert":{"body":"See you at 8"}}}"#))
///             #expect(outcome.shown?.body == "See you at 8")
///             #expect(outcome.faults.isEmpty, "\(outcome)")
///         }
///
///         @Test func aSlowKeychainEndsInTheFallback() async throws {
///             let device = SimulatedDevice(clock: .simulated(clock)) { [keys, clock] in
///                 NotificationService(keys: keys, clock: clock, delay: 40)
///             }
///             let arrival = device.send(try push(#"{"aps":{"alert":{"body":"See you at 8"}}}"#))
///             clock.advance(by: 30)
///             let outcome = await arrival.decided()
///             #expect(outcome.shown?.subtitle == "(Encrypted)")
///             #expect(outcome.deliveries == 1)
///         }
///     }
///
/// It does not limit memory: an extension that the system would end for using more than 24 MB runs here. An extension
/// that crashes ends the test's process; test this with an exit test. Behaviour that Apple does not document (which of
/// two categories wins, what a device does between expiry and end) is implemented in the simplest way. Nothing of this
/// was run on an Apple platform. There, responses, foreground delegates and content extensions are missing, because
/// they need objects that only the system can create.
///
/// Safe to use from several threads.
public final class SimulatedDevice: @unchecked Sendable {
    /// The clock of the device.
    public let clock: DeviceClock
    private let makeExtension: (@Sendable () -> UNNotificationServiceExtension)?
    private let state = Locked(State())

    /// The state guarded by the lock.
    final class State {
        var settings = Settings()
        var lockState = LockState.unlocked
        var isAppInForeground = false
        var app = App()
        var limits = Limits()
        var pushes = 0
        #if os(Linux)
            var contentExtensions: [ContentExtension] = []
            var expanded: WeakExpanded?
        #else
            var categories: Set<UNNotificationCategory> = []
            var badge = 0
            var list: [(identifier: String, content: UNNotificationContent)] = []
        #endif
    }

    #if os(Linux)
        /// The app's notification center, current for code of the app inside `inProcess`.
        public let center: UNUserNotificationCenter

        /// Creates a device with its own notification center.
        ///
        /// - Parameters:
        ///   - clock: The clock; a simulated one by default.
        ///   - makeExtension: Creates the principal object of the service extension, for each push; nil for an app
        ///     without one.
        public convenience init(
            clock: DeviceClock = .simulated(SimulatedClock()),
            serviceExtension makeExtension: (@Sendable () -> UNNotificationServiceExtension)? = nil
        ) {
            self.init(center: UNUserNotificationCenter(), clock: clock, serviceExtension: makeExtension)
        }

        /// Creates a device with the given notification center.
        ///
        /// With `UNUserNotificationCenter.current()`, code on threads that the app starts uses this device too. There
        /// can be only one such device at a time.
        ///
        /// - Parameters:
        ///   - center: The notification center.
        ///   - clock: The clock; a simulated one by default.
        ///   - makeExtension: Creates the principal object of the service extension, for each push; nil for an app
        ///     without one.
        public init(
            center: UNUserNotificationCenter, clock: DeviceClock = .simulated(SimulatedClock()),
            serviceExtension makeExtension: (@Sendable () -> UNNotificationServiceExtension)? = nil
        ) {
            self.center = center
            self.clock = clock
            self.makeExtension = makeExtension
            settings = Settings()
        }

        /// Runs code of the app. In `body` and in the tasks that it starts, `UNUserNotificationCenter.current()` is the
        /// center of this device; on threads and queues that the app creates, it is the center of the process.
        package func inProcess<R>(_ body: () throws -> R) rethrows -> R {
            try UNUserNotificationCenter.withCurrent(center, body)
        }
    #else
        /// Creates a device.
        ///
        /// - Parameters:
        ///   - clock: The clock; a simulated one by default.
        ///   - makeExtension: Creates the principal object of the service extension, for each push; nil for an app
        ///     without one.
        public init(
            clock: DeviceClock = .simulated(SimulatedClock()),
            serviceExtension makeExtension: (@Sendable () -> UNNotificationServiceExtension)? = nil
        ) {
            self.clock = clock
            self.makeExtension = makeExtension
        }

        func inProcess<R>(_ body: () throws -> R) rethrows -> R { try body() }
    #endif

    func withState<R>(_ body: (State) -> R) -> R { state.withLock { body($0) } }

    // MARK: Pushes

    /// Delivers a push and waits for the outcome.
    ///
    /// If the extension does not deliver within the simulated clock's `patience`, time passes automatically. To control
    /// the order of events, use `send` and advance the clock.
    public func push(_ push: APNsPush) async -> Outcome { await send(push).decided() }

    /// Delivers a push. Returns when the extension's `didReceive` has returned or is waiting for simulated time to
    /// pass; with a real clock, immediately.
    @discardableResult
    public func send(_ push: APNsPush) -> Arrival {
        let refusal = push.refusal
        let payload = refusal == nil ? PushPayload(push.payload) : nil
        let skipped = refusal ?? payload.flatMap { skipReason(push, $0) }
        let original = inProcess { payload?.content } ?? UNNotificationContent()
        let reception = Reception(identifier(for: push), original, skipped, clock)
        guard let skipped else {
            let run = makeExtension.map { ExtensionRun(reception, on: self, making: $0) }
            run?.start()
            return Arrival(reception, run, clock: clock)
        }
        reception.note("the extension does not run: \(skipped)")
        if skipped.isRefusal || skipped == .notAlertPush {
            reception.decide(.nothing, nil)
        } else {
            show(nil, for: reception)
        }
        return Arrival(reception, nil, clock: clock)
    }

    private func skipReason(_ push: APNsPush, _ payload: PushPayload) -> SkipReason? {
        if push.type != "alert" { return .notAlertPush }
        guard payload.hasAlert else {
            return payload.aps["sound"] != nil ? .soundOnly : payload.aps["badge"] != nil ? .badgeOnly : .silent
        }
        if !payload.hasAlertText { return .noAlertText }
        if !payload.isMutable { return .notMutable }
        let settings = settings
        if settings.permission == .denied || settings.permission == .notAsked { return .notPermitted }
        if !settings.alerts { return .alertsOff }
        return makeExtension == nil ? .noExtension : nil
    }

    private func identifier(for push: APNsPush) -> String {
        let number = withState { state in
            state.pushes += 1
            return String(state.pushes)
        }
        let padded = String(repeating: "0", count: max(0, 12 - number.count)) + number
        return push.collapseID ?? push.id ?? "00000000-0000-4000-8000-\(padded)"
    }

    func request(for reception: Reception) -> UNNotificationRequest {
        request(reception.requestIdentifier, reception.original)
    }

    func request(_ identifier: String, _ content: UNNotificationContent) -> UNNotificationRequest {
        #if os(Linux)
            let trigger = UNPushNotificationTrigger()
        #else
            let trigger: UNNotificationTrigger? = nil
        #endif
        return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
    }
}
