internal import Foundation
internal import PushcryptKeyStore
public import UserNotifications

/// A device without a phone: it takes a push, runs the app's service extension on it, and says what a person saw.
///
/// It decides as the system does whether the extension runs, calls it away from the main thread with an object of its own
/// for each push and in one process for all, several at once, tells it when its thirty seconds are almost over, takes the
/// first delivery, counts the others, and shows the push as it came when there is none. Around the extension it has what
/// the system has: settings, lock, list of notifications, categories, responses and content extensions.
///
///     import DeviceSimulator
///     import Pushcrypt
///     import PushcryptKeyStore
///     import Testing
///
///     @Suite struct NotificationServiceTests {
///         let sender = SenderKey()
///         let keys: SQLiteKeyStore
///         let topic: Topic
///         let clock = SimulatedClock()
///
///         init() throws {
///             topic = try Topic("com.example.app")
///             keys = try SQLiteKeyStore.inMemory()
///             _ = try keys.generateDeviceKey(topic: topic, at: now)
///             try keys.trustSender(sender.publicKey, named: "provider", at: now)
///         }
///
///         func push(_ payload: String) throws -> APNsPush {
///             let key = try #require(try keys.deviceKeys().first?.publicKey)
///             return APNsPush(try Sealer(sender: sender, topic: topic).seal(payload.utf8, to: key, at: now).json)
///         }
///
///         @Test func aSealedMessageIsShownOpened() async throws {
///             // `NotificationService` is the app's extension; here it takes its key store from the test.
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
/// It does not limit memory: an extension that would be ended for using more than 24 MB runs here. An extension that crashes
/// ends the test's process; test such a fault with an exit test. What Apple does not document (which of two categories wins,
/// what a device does between expiry and end) is decided here in the simplest way, and nothing of this was run on an Apple
/// platform. There, responses, foreground delegates and content extensions are missing: they need objects that only the
/// system can make.
///
/// Safe to use from several threads.
public final class SimulatedDevice: @unchecked Sendable {
    /// The time.
    public let clock: DeviceClock
    private let makeExtension: (@Sendable () -> UNNotificationServiceExtension)?
    private let state = Locked(State())

    /// What the lock guards.
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
        /// The app's notification center, for code of the app that runs inside `inProcess`.
        public let center: UNUserNotificationCenter

        /// Makes a device with a notification center of its own.
        ///
        /// - Parameters:
        ///   - clock: the time; a simulated one unless given.
        ///   - makeExtension: makes the principal object of the service extension, once for each push; nil for an app
        ///     without one.
        public convenience init(
            clock: DeviceClock = .simulated(SimulatedClock()),
            serviceExtension makeExtension: (@Sendable () -> UNNotificationServiceExtension)? = nil
        ) {
            self.init(center: UNUserNotificationCenter(), clock: clock, serviceExtension: makeExtension)
        }

        /// Makes a device with a given notification center.
        ///
        /// With `UNUserNotificationCenter.current()`, code that the app runs on threads of its own meets this device too;
        /// there can be only one such device at a time.
        public init(
            center: UNUserNotificationCenter, clock: DeviceClock = .simulated(SimulatedClock()),
            serviceExtension makeExtension: (@Sendable () -> UNNotificationServiceExtension)? = nil
        ) {
            self.center = center
            self.clock = clock
            self.makeExtension = makeExtension
            settings = Settings()
        }

        /// Runs code of the app: `UNUserNotificationCenter.current()` is this device's, in it and in the tasks that it
        /// starts; on threads and queues of the app's own it is the process's.
        public func inProcess<R>(_ body: () throws -> R) rethrows -> R {
            try UNUserNotificationCenter.withCurrent(center, body)
        }
    #else
        /// Makes a device.
        ///
        /// - Parameters:
        ///   - clock: the time; a simulated one unless given.
        ///   - makeExtension: makes the principal object of the service extension, once for each push; nil for an app
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

    func withState<R>(_ body: (State) -> R) -> R { state.withLock(body) }

    // MARK: Pushes

    /// Delivers a push, and waits until it is decided what a person sees.
    ///
    /// For an extension that does not deliver within the simulated clock's `patience`, the time passes by itself; to decide
    /// what happens when, use `send` and move the clock.
    public func push(_ push: APNsPush) async -> Outcome { await send(push).decided() }

    /// Delivers a push, and returns when the extension's `didReceive` has returned or waits for a simulated time to come;
    /// at once on a real clock.
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
