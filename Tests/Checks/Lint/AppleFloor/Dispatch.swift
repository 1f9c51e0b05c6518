// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// swift-format-ignore-file: NeverForceUnwrap
// Stands in for Dispatch while the floor check typechecks on Linux: the declarations that the project uses, as Swift imports them.
public enum DispatchTimeInterval: Equatable, Sendable {
    case seconds(Int), milliseconds(Int), microseconds(Int), nanoseconds(Int), never
}
public struct DispatchTime: Comparable, Sendable {
    public static func now() -> DispatchTime { fatalError() }
    public static func < (a: DispatchTime, b: DispatchTime) -> Bool { false }
}
public func + (a: DispatchTime, b: DispatchTimeInterval) -> DispatchTime { a }
public func + (a: DispatchTime, b: Double) -> DispatchTime { a }
public struct DispatchQoS: Equatable, Sendable {
    public enum QoSClass: Sendable { case background, utility, `default`, userInitiated, userInteractive, unspecified }
    public static let background = DispatchQoS(), utility = DispatchQoS(), `default` = DispatchQoS(),
        userInitiated = DispatchQoS(), userInteractive = DispatchQoS(), unspecified = DispatchQoS()
}
public enum DispatchTimeoutResult: Sendable { case success, timedOut }
public struct DispatchWorkItemFlags: OptionSet, Sendable {
    public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue };
    public static let barrier = Self(rawValue: 1)
}
public class DispatchObject {}
public final class DispatchGroup: DispatchObject, @unchecked Sendable {
    public override init() {}
    public func enter() {}
    public func leave() {}
    @discardableResult public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
    public func wait() {}
    @preconcurrency public func notify(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], queue: DispatchQueue,
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
}
public final class DispatchSemaphore: DispatchObject, @unchecked Sendable {
    public init(value: Int) {}; @discardableResult public func signal() -> Int { 0 }; public func wait() {};
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { .success }
}
public final class DispatchQueue: DispatchObject, @unchecked Sendable {
    public struct Attributes: OptionSet, Sendable {
        public let rawValue: UInt64; public init(rawValue: UInt64) { self.rawValue = rawValue };
        public static let concurrent = Attributes(rawValue: 2)
    }
    public enum AutoreleaseFrequency: Sendable { case inherit, workItem, never }
    public convenience init(
        label: String, qos: DispatchQoS = .unspecified, attributes: Attributes = [],
        autoreleaseFrequency: AutoreleaseFrequency = .inherit, target: DispatchQueue? = nil
    ) { fatalError() }
    public class var main: DispatchQueue { fatalError() }
    public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { fatalError() }
    @preconcurrency public func async(
        group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    @preconcurrency public func asyncAfter(
        deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
        execute work: @escaping @Sendable @convention(block) () -> Void
    ) {}
    public func sync<T>(execute work: () throws -> T) rethrows -> T { fatalError() }
}
public protocol DispatchSourceProtocol: AnyObject {
    func setEventHandler(
        qos: DispatchQoS, flags: DispatchWorkItemFlags, handler: (@Sendable @convention(block) () -> Void)?)
    func activate(); func cancel(); func resume(); func suspend()
}
extension DispatchSourceProtocol {
    @preconcurrency public func setEventHandler(
        qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [], handler: (@Sendable () -> Void)?
    ) {}
}
public protocol DispatchSourceTimer: DispatchSourceProtocol {
    func schedule(deadline: DispatchTime, repeating: DispatchTimeInterval, leeway: DispatchTimeInterval)
}
extension DispatchSourceTimer {
    public func schedule(
        deadline: DispatchTime, repeating: DispatchTimeInterval = .never, leeway: DispatchTimeInterval = .nanoseconds(0)
    ) {}
}
public final class DispatchSource: DispatchObject {
    public struct TimerFlags: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue };
        public static let strict = Self(rawValue: 1)
    }
    public class func makeTimerSource(flags: TimerFlags = [], queue: DispatchQueue? = nil) -> any DispatchSourceTimer {
        fatalError()
    }
}
