// Neither compiled nor run on Linux, where the project is tested; everything above it is. It makes no decisions.
#if canImport(Security)
    internal import CoreFoundation
    public import Pushcrypt
    internal import Security

    extension KeychainDeviceStore {
        /// Creates a store in the system's Keychain.
        ///
        /// - Parameters:
        ///   - accessGroup: The Keychain Sharing group of the app and its extensions, with the team's prefix, as in
        ///     `AB12CD34EF.com.example.app.keys`.
        ///   - topic: The app.
        public convenience init(accessGroup: String, topic: Topic) {
            self.init(items: SecItemKeychain(), accessGroup: accessGroup, topic: topic)
        }
    }

    /// Passes each query to `SecItem`, and copies the data of an item into guarded memory.
    private struct SecItemKeychain: SecItems {
        func add(_ attributes: KeychainQuery) -> Int32 { SecItemAdd(dictionary(attributes), nil) }

        func copyMatching(_ query: KeychainQuery) -> (status: Int32, data: KeychainSecret?) {
            var result: CFTypeRef?
            let status = unsafe SecItemCopyMatching(dictionary(query), &result)
            guard status == errSecSuccess, let result, CFGetTypeID(result) == CFDataGetTypeID() else {
                return (status, nil)
            }
            let data = unsafe unsafeDowncast(result, to: CFData.self)
            let count = CFDataGetLength(data)
            return (
                status,
                KeychainSecret(
                    SecretBytes(count: count) { output in
                        unsafe output.withMutableBase { base, _ in
                            unsafe CFDataGetBytes(data, CFRange(location: 0, length: count), base)
                        }
                    })
            )
        }

        func update(_ query: KeychainQuery, _ attributes: KeychainQuery) -> Int32 {
            SecItemUpdate(dictionary(query), dictionary(attributes))
        }

        func delete(_ query: KeychainQuery) -> Int32 { SecItemDelete(dictionary(query)) }

        /// Without Foundation, Swift dictionaries are not bridged.
        private func dictionary(_ query: KeychainQuery) -> CFDictionary {
            var keys = kCFTypeDictionaryKeyCallBacks
            var values = kCFTypeDictionaryValueCallBacks
            let dictionary: CFMutableDictionary = unsafe CFDictionaryCreateMutable(nil, query.count, &keys, &values)
            for (attribute, value) in query {
                let (key, object) = (attribute.constant, value.object)
                // The dictionary retains both.
                withExtendedLifetime((key, object)) {
                    unsafe CFDictionarySetValue(
                        dictionary, Unmanaged.passUnretained(key).toOpaque(),
                        Unmanaged.passUnretained(object).toOpaque())
                }
            }
            return dictionary
        }
    }

    extension KeychainAttribute {
        fileprivate var constant: CFString {
            switch self {
            case .itemClass: kSecClass
            case .service: kSecAttrService
            case .account: kSecAttrAccount
            case .accessGroup: kSecAttrAccessGroup
            case .accessible: kSecAttrAccessible
            case .isSynchronizable: kSecAttrSynchronizable
            case .usesDataProtection: kSecUseDataProtectionKeychain
            case .generic: kSecAttrGeneric
            case .data: kSecValueData
            case .returnsData: kSecReturnData
            case .matchLimit: kSecMatchLimit
            }
        }
    }

    extension KeychainValue {
        fileprivate var object: CFTypeRef {
            switch self {
            case .genericPassword: kSecClassGenericPassword
            case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .one: kSecMatchLimitOne
            case .flag(let flag): flag ? kCFBooleanTrue : kCFBooleanFalse
            case .text(let text): Self.string(Bytes(text.utf8).span)
            case .bytes(let bytes): Self.data(bytes.span)
            case .secret(let secret): secret.withSpan(Self.data)
            }
        }

        private static func string(_ text: Span<UInt8>) -> CFString {
            unsafe text.withUnsafeBufferPointer { text in
                unsafe CFStringCreateWithBytes(
                    nil, text.baseAddress, text.count, CFStringBuiltInEncodings.UTF8.rawValue, false)
            }
        }

        private static func data(_ bytes: Span<UInt8>) -> CFData {
            unsafe bytes.withUnsafeBufferPointer { bytes in
                unsafe CFDataCreate(nil, bytes.baseAddress, bytes.count)
            }
        }
    }
#endif
