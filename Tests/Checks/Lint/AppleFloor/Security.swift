// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// swift-format-ignore-file: NeverForceUnwrap
// Stands in for Security while the floor check typechecks on Linux: the declarations that the project uses, as Swift imports them.
public import CoreFoundation
public typealias OSStatus = Int32
public var errSecSuccess: OSStatus { 0 }
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
@unsafe public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus
{ 0 }
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
public let kSecClass: CFString = CFString()
public let kSecAttrService: CFString = CFString()
public let kSecAttrAccount: CFString = CFString()
public let kSecAttrAccessGroup: CFString = CFString()
public let kSecAttrAccessible: CFString = CFString()
public let kSecAttrSynchronizable: CFString = CFString()
public let kSecAttrGeneric: CFString = CFString()
public let kSecValueData: CFString = CFString()
public let kSecReturnData: CFString = CFString()
public let kSecMatchLimit: CFString = CFString()
public let kSecClassGenericPassword: CFString = CFString()
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = CFString()
public let kSecMatchLimitOne: CFString = CFString()
@available(iOS 13.0, *) public let kSecUseDataProtectionKeychain: CFString = CFString()
