// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// swift-format-ignore-file: NeverForceUnwrap
// Stands in for CoreFoundation while the floor check typechecks on Linux: the declarations that the project uses, as Swift imports them.
public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
public typealias CFTypeID = UInt
public typealias CFStringEncoding = UInt32
public class CFAllocator: @unchecked Sendable { public init() {} }
public class CFString: @unchecked Sendable { public init() {} }
public class CFData: @unchecked Sendable { public init() {} }
public class CFBoolean: @unchecked Sendable { public init() {} }
public class CFDictionary { public init() {} }
public class CFMutableDictionary: CFDictionary { public override init() {} }
public struct CFRange {
    public var location: CFIndex; public var length: CFIndex;
    public init(location: CFIndex, length: CFIndex) { self.location = location; self.length = length }
}
public struct CFDictionaryKeyCallBacks { public init() {} }
public struct CFDictionaryValueCallBacks { public init() {} }
public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()
public let kCFBooleanTrue: CFBoolean! = nil
public let kCFBooleanFalse: CFBoolean! = nil
public enum CFStringBuiltInEncodings: UInt32 { case UTF8 = 0x08000100 }
public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { 0 }
public func CFDataGetTypeID() -> CFTypeID { 0 }
public func CFDataGetLength(_ theData: CFData!) -> CFIndex { 0 }
@unsafe public func CFDataGetBytes(_ theData: CFData!, _ range: CFRange, _ buffer: UnsafeMutablePointer<UInt8>!) {}
@unsafe public func CFDataCreate(_ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex)
    -> CFData!
{ nil }
@unsafe public func CFStringCreateWithBytes(
    _ alloc: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ numBytes: CFIndex, _ encoding: CFStringEncoding,
    _ isExternalRepresentation: Bool
) -> CFString! { nil }
@unsafe public func CFDictionaryCreateMutable(
    _ allocator: CFAllocator!, _ capacity: CFIndex, _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
    _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFMutableDictionary! { nil }
@unsafe public func CFDictionarySetValue(
    _ theDict: CFMutableDictionary!, _ key: UnsafeRawPointer!, _ value: UnsafeRawPointer!
) {}
