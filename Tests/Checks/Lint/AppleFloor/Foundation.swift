// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// swift-format-ignore-file: NeverForceUnwrap
// Stands in for Foundation while the floor check typechecks on Linux: what the project's sources use of it, each declaration
// with Apple's availability.
@_exported public import Dispatch
@_exported public import CoreFoundation
@_exported public import Darwin
public typealias TimeInterval = Double
public struct NSZone {}
public protocol NSObjectProtocol: AnyObject { func isEqual(_ object: Any?) -> Bool; var hash: Int { get } }
open class NSObject: NSObjectProtocol, Equatable, Hashable, CustomStringConvertible {
    public init() {}
    open func isEqual(_ object: Any?) -> Bool { false }
    open var hash: Int { 0 }
    open var description: String { "" }
    open func copy() -> Any { self }
    open func mutableCopy() -> Any { self }
    public static func == (a: NSObject, b: NSObject) -> Bool { a.isEqual(b) }
    public func hash(into hasher: inout Hasher) {}
}
public protocol NSCopying { func copy(with zone: NSZone?) -> Any }
public protocol NSMutableCopying { func mutableCopy(with zone: NSZone?) -> Any }
public protocol NSCoding { func encode(with coder: NSCoder); init?(coder: NSCoder) }
public protocol NSSecureCoding: NSCoding { static var supportsSecureCoding: Bool { get } }
open class NSCoder: NSObject {}
public struct PersonNameComponents {}
open class NSString: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    public override init() {}
    public init(string: String) {}
    public required init?(coder: NSCoder) { nil }
    open func encode(with coder: NSCoder) {}
    open func copy(with zone: NSZone? = nil) -> Any { self }
    open class var supportsSecureCoding: Bool { true }
}
open class NSNumber: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    public init(value: Int) {}
    public init(value: Int64) {}
    public required init?(coder: NSCoder) { nil }
    open func encode(with coder: NSCoder) {}
    open func copy(with zone: NSZone? = nil) -> Any { self }
    open class var supportsSecureCoding: Bool { true }
    open var intValue: Int { 0 }
    open var doubleValue: Double { 0 }
}
open class NSNull: NSObject {}
open class NSError: NSObject, Error, @unchecked Sendable {
    public init(domain: String, code: Int, userInfo: [String: Any]? = nil) {}; open var domain: String { "" };
    open var code: Int { 0 }; open var userInfo: [String: Any] { [:] }
}
open class NSLock: NSObject, @unchecked Sendable {
    public override init() {}; open func lock() {}; open func unlock() {};
    @available(iOS 2, *) public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() }
}
public struct UUID: Hashable, Sendable { public init() {}; public var uuidString: String { "" } }
public struct Date: Hashable, Comparable, Sendable {
    public init() {}; public init(timeIntervalSince1970: TimeInterval) {};
    public var timeIntervalSince1970: TimeInterval { 0 }
    public func timeIntervalSince(_ d: Date) -> TimeInterval { 0 }
    @available(iOS 15, *) public static var now: Date { Date() }
    public static func < (a: Date, b: Date) -> Bool { false }
}
public struct Data: Hashable, Sendable, RandomAccessCollection, MutableCollection {
    public init() {}
    public init<S: Sequence>(_ s: S) where S.Element == UInt8 {}
    public init(contentsOf url: URL) throws {}
    public typealias Index = Int; public typealias Element = UInt8
    public var startIndex: Int { 0 }; public var endIndex: Int { 0 }
    public subscript(i: Int) -> UInt8 {
        get { 0 }
        set {}
    }
    public subscript(b: Range<Int>) -> Data {
        get { self }
        set {}
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue };
        public static let atomic = Self(rawValue: 1);
        public static let noFileProtection = Self(rawValue: 4)
    }
    public func write(to url: URL, options: WritingOptions = []) throws {}
    public struct SearchOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public func range(of data: Data, options: SearchOptions = [], in range: Range<Int>? = nil) -> Range<Int>? { nil }
}
extension Data {
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}
public struct CocoaError: Error, Sendable {
    public struct Code: Hashable, Sendable {
        public static var fileWriteUnknown: Code { Code() }; public static var fileReadNoSuchFile: Code { Code() }
    }; public init(_ code: Code, userInfo: [String: Any] = [:]) {}; public var code: Code { Code() }
}
extension CocoaError {
    public static var fileWriteUnknown: Code { Code() }; public static var fileReadNoSuchFile: Code { Code() }
}
public func ~= (c: CocoaError.Code, e: any Error) -> Bool { false }
extension StringProtocol { public func contains<T: StringProtocol>(_ other: T) -> Bool { false } }
public struct URLResourceKey: Hashable, Sendable {
    public static let contentModificationDateKey = URLResourceKey(), fileSizeKey = URLResourceKey(),
        isDirectoryKey = URLResourceKey()
}
public struct URLResourceValues: Sendable {
    public var contentModificationDate: Date? { nil }; public var fileSize: Int? { 0 };
    public var isDirectory: Bool? { nil };
    public var isExcludedFromBackup: Bool? {
        get { nil }
        set {}
    }; public init() {}
}
public struct URL: Hashable, Sendable, CustomStringConvertible {
    public init?(string: String) {}
    public init(fileURLWithPath: String) {}
    public init(fileURLWithPath: String, isDirectory: Bool) {}
    public var path: String { "" }; public var scheme: String? { nil }; public var host: String? { nil };
    public var lastPathComponent: String { "" }; public var pathExtension: String { "" };
    public var isFileURL: Bool { true }; public var description: String { "" }
    @available(iOS 16, *) public func path(percentEncoded: Bool = true) -> String { "" }
    public func appendingPathComponent(_ c: String) -> URL { self }
    public func appendingPathComponent(_ c: String, isDirectory: Bool) -> URL { self }
    public func deletingLastPathComponent() -> URL { self }
    public func resourceValues(forKeys: Set<URLResourceKey>) throws -> URLResourceValues { URLResourceValues() }
    public mutating func setResourceValues(_ v: URLResourceValues) throws {}
}
public struct FileAttributeKey: Hashable, Sendable {
    public static let posixPermissions = FileAttributeKey(), protectionKey = FileAttributeKey(),
        size = FileAttributeKey(), modificationDate = FileAttributeKey()
}
public struct FileProtectionType: Hashable, Sendable {
    public static let completeUntilFirstUserAuthentication = FileProtectionType()
}
open class FileManager: NSObject, @unchecked Sendable {
    public struct DirectoryEnumerationOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public enum SearchPathDirectory: UInt, Sendable { case applicationSupportDirectory = 14 }
    public struct SearchPathDomainMask: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue };
        public static let userDomainMask = Self(rawValue: 1)
    }
    open class var `default`: FileManager { FileManager() }
    open func containerURL(forSecurityApplicationGroupIdentifier: String) -> URL? { nil }
    open var temporaryDirectory: URL { URL(fileURLWithPath: "") }
    open func url(for d: SearchPathDirectory, in m: SearchPathDomainMask, appropriateFor u: URL?, create: Bool) throws
        -> URL
    { fatalError() }
    open func urls(for d: SearchPathDirectory, in m: SearchPathDomainMask) -> [URL] { [] }
    open func moveItem(at: URL, to: URL) throws {}
    open func copyItem(at: URL, to: URL) throws {}
    open func removeItem(at: URL) throws {}
    open func fileExists(atPath: String) -> Bool { false }
    open func createFile(atPath: String, contents: Data?, attributes: [FileAttributeKey: Any]? = nil) -> Bool { false }
    open func createDirectory(at: URL, withIntermediateDirectories: Bool, attributes: [FileAttributeKey: Any]? = nil)
        throws
    {}
    open func setAttributes(_ a: [FileAttributeKey: Any], ofItemAtPath: String) throws {}
    open func attributesOfItem(atPath: String) throws -> [FileAttributeKey: Any] { [:] }
    open func contentsOfDirectory(
        at: URL, includingPropertiesForKeys: [URLResourceKey]?, options: DirectoryEnumerationOptions = []
    ) throws -> [URL] { [] }
}
open class FileHandle: NSObject, @unchecked Sendable {
    public convenience init(forReadingFrom: URL) throws { fatalError() }
    public convenience init(forWritingTo: URL) throws { fatalError() }
    @available(iOS 13.4, *) public func write<T: RandomAccessCollection>(contentsOf: T) throws
    where T.Element == UInt8 {}
    @available(iOS 13.4, *) public func read(upToCount: Int) throws -> Data? { nil }
    @available(iOS 13, *) open func close() throws {}
}
open class Bundle: NSObject, @unchecked Sendable {
    open class var main: Bundle { Bundle() }; open var infoDictionary: [String: Any]? { nil };
    public convenience init?(url: URL) { nil }
    open var builtInPlugInsURL: URL? { nil }; open var bundleURL: URL { fatalError() }
    open var bundleIdentifier: String? { nil }; open func object(forInfoDictionaryKey: String) -> Any? { nil }
}
open class ProcessInfo: NSObject, @unchecked Sendable {
    open class var processInfo: ProcessInfo { ProcessInfo() }; open var environment: [String: String] { [:] }
    @available(iOS 8.2, *) @available(macOS, unavailable) open func performExpiringActivity(
        withReason: String, using: @escaping @Sendable (Bool) -> Void
    ) {}
}
open class JSONSerialization: NSObject {
    public struct ReadingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
    }
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt; public init(rawValue: UInt) { self.rawValue = rawValue }
        @available(iOS 13, *) public static var withoutEscapingSlashes: Self { Self(rawValue: 8) }
    }
    open class func isValidJSONObject(_ o: Any) -> Bool { false }
    open class func data(withJSONObject: Any, options: WritingOptions = []) throws -> Data { Data() }
    open class func jsonObject(with: Data, options: ReadingOptions = []) throws -> Any { 0 }
}
open class OperationQueue: NSObject, @unchecked Sendable {}
open class URLCache: NSObject, @unchecked Sendable {}
open class URLCredentialStorage: NSObject, @unchecked Sendable {}
open class HTTPCookieStorage: NSObject, @unchecked Sendable {}
public struct URLRequest: Hashable, Sendable {
    public enum CachePolicy: UInt, Sendable { case reloadIgnoringLocalCacheData = 1 }
    public init(url: URL) {};
    public var url: URL? {
        get { nil }
        set {}
    }; public mutating func setValue(_ v: String?, forHTTPHeaderField: String) {}
    public var httpMethod: String?; public var httpBody: Data?
}
public typealias NSURLRequestCachePolicy = URLRequest.CachePolicy
open class URLResponse: NSObject, @unchecked Sendable { open var url: URL? { nil } }
open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    open var statusCode: Int { 0 }; open func value(forHTTPHeaderField field: String) -> String? { nil }
}
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
    open class var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
    open var timeoutIntervalForRequest: TimeInterval = 0; open var timeoutIntervalForResource: TimeInterval = 0;
    open var requestCachePolicy = URLRequest.CachePolicy.reloadIgnoringLocalCacheData; open var urlCache: URLCache?;
    open var urlCredentialStorage: URLCredentialStorage?; open var httpCookieStorage: HTTPCookieStorage?;
    open var httpShouldSetCookies = false
}
open class URLSessionTask: NSObject, @unchecked Sendable {
    open func resume() {}; open func cancel() {}; open var response: URLResponse? { nil }
}
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {}
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
open class URLSession: NSObject, @unchecked Sendable {
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue: OperationQueue?
    ) {}
    open func downloadTask(with: URLRequest) -> URLSessionDownloadTask { URLSessionDownloadTask() };
    open func dataTask(with: URLRequest) -> URLSessionDataTask { URLSessionDataTask() };
    open func finishTasksAndInvalidate() {}
}
public protocol URLSessionDelegate: NSObjectProtocol, Sendable {}
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}
public protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64)
}
public protocol LocalizedError: Error {}
public protocol CustomNSError: Error {}
public func NSLocalizedString(_ key: String, comment: String) -> String { key }
extension String: _ObjectiveCBridgeable {
    public typealias _ObjectiveCType = NSString
    public func _bridgeToObjectiveC() -> NSString { fatalError() }
    public static func _forceBridgeFromObjectiveC(_ s: NSString, result: inout String?) {}
    public static func _conditionallyBridgeFromObjectiveC(_ s: NSString, result: inout String?) -> Bool { false }
    public static func _unconditionallyBridgeFromObjectiveC(_ s: NSString?) -> String { "" }
}
public struct CGFloat: Hashable, Comparable, Sendable, ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral,
    SignedNumeric
{
    public init(floatLiteral: Double) {}; public init(integerLiteral: Int) {}; public init(_ v: Double) {};
    public init(_ v: Int) {}; public init() {}
    public init?<T: BinaryInteger>(exactly: T) {}; public var magnitude: CGFloat { self };
    public static func + (a: Self, b: Self) -> Self { a }; public static func - (a: Self, b: Self) -> Self { a };
    public static func * (a: Self, b: Self) -> Self { a }; public static func *= (a: inout Self, b: Self) {};
    public static func < (a: Self, b: Self) -> Bool { false }; public static func / (a: Self, b: Self) -> Self { a }
}
public struct CGSize: Hashable, Sendable {
    public init(width: CGFloat, height: CGFloat) {}; public init() {}; public static let zero = CGSize();
    public var width: CGFloat {
        get { 0 }
        set {}
    };
    public var height: CGFloat {
        get { 0 }
        set {}
    }
}
public struct CGRect: Hashable, Sendable {
    public init(x: CGFloat, y: CGFloat, width: CGFloat, height: CGFloat) {}; public init() {};
    public static let zero = CGRect();
    public var size: CGSize {
        get { CGSize() }
        set {}
    }
}
public func _convertErrorToNSError(_ error: any Error) -> NSError { fatalError() }
public func _convertNSErrorToError(_ error: NSError?) -> any Error { fatalError() }

public func dispatchPrecondition(condition: @autoclosure () -> DispatchPredicate) {}
public enum DispatchPredicate {
    case onQueue(DispatchQueue), onQueueAsBarrier(DispatchQueue), notOnQueue(DispatchQueue)
}
open class NSMutableDictionary: NSObject {
    open subscript(key: Any) -> Any? {
        get { nil }
        set {}
    }
}
public let NSPOSIXErrorDomain = ""
public enum QualityOfService: Int, Sendable { case userInteractive, userInitiated, utility, background, `default` }
open class Thread: NSObject, @unchecked Sendable {
    @available(iOS 10, macOS 10.12, *) public convenience init(block: @escaping @Sendable () -> Void) { self.init() }
    @available(iOS 8, macOS 10.10, *) open var qualityOfService: QualityOfService {
        get { .default }
        set {}
    }
    open func start() {}
    open class var current: Thread { Thread() }
    open class var isMainThread: Bool { false }
    open var threadDictionary: NSMutableDictionary { NSMutableDictionary() }
    @preconcurrency open class func detachNewThread(_ block: @escaping @Sendable () -> Void) {}
}
open class NSCondition: NSObject, @unchecked Sendable {
    open func lock() {}
    open func unlock() {}
    open func wait() {}
    open func wait(until limit: Date) -> Bool { false }
    open func signal() {}
    open func broadcast() {}
    public func withLock<R>(_ body: () throws -> R) rethrows -> R { try body() }
}
extension Date {
    public init(timeIntervalSinceNow: TimeInterval) { self.init() }
    public func addingTimeInterval(_ interval: TimeInterval) -> Date { self }
    public static func += (a: inout Date, b: TimeInterval) {}
    public static func + (a: Date, b: TimeInterval) -> Date { a }
}
extension NSNumber {
    public var objCType: UnsafePointer<CChar> { unsafe UnsafePointer(bitPattern: 1).unsafelyUnwrapped }
    public var floatValue: Float { 0 }
}
public struct CharacterSet: ExpressibleByArrayLiteral, Sendable {
    public init(arrayLiteral elements: Unicode.Scalar...) {}
}
extension StringProtocol {
    public func trimmingCharacters(in set: CharacterSet) -> String { "" }
    public func replacingOccurrences<T: StringProtocol, R: StringProtocol>(of target: T, with replacement: R) -> String
    { "" }
}
extension CGRect {
    public var width: CGFloat { size.width }
    public var height: CGFloat { size.height }
}
