public import Foundation

/// The name of a sound file of the app.
public struct UNNotificationSoundName: RawRepresentable, Hashable, Sendable {
    /// The name of the file.
    public var rawValue: String

    /// Creates a name.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The sound of a notification.
open class UNNotificationSound: NSObject, NSCopying, NSSecureCoding {
    /// The volume from 0 to 1, if given.
    package let volume: Float?
    /// Whether it is a critical sound.
    package let isCritical: Bool
    /// The name of the file; nil for the system's sound.
    package let name: UNNotificationSoundName?

    package init(name: UNNotificationSoundName?, isCritical: Bool, volume: Float?) {
        self.name = name
        self.isCritical = isCritical
        self.volume = volume
        super.init()
    }

    /// The system's sound.
    open class var `default`: UNNotificationSound {
        UNNotificationSound(name: nil, isCritical: false, volume: nil)
    }

    /// The system's critical sound.
    open class var defaultCritical: UNNotificationSound {
        UNNotificationSound(name: nil, isCritical: true, volume: nil)
    }

    /// Returns the system's critical sound at a volume from 0 to 1.
    open class func defaultCriticalSound(withAudioVolume volume: Float) -> UNNotificationSound {
        UNNotificationSound(name: nil, isCritical: true, volume: volume)
    }

    /// Creates a sound from a file of the app.
    public convenience init(named name: UNNotificationSoundName) {
        self.init(name: name, isCritical: false, volume: nil)
    }

    /// Returns a critical sound from a file of the app.
    open class func criticalSoundNamed(_ name: UNNotificationSoundName) -> UNNotificationSound {
        UNNotificationSound(name: name, isCritical: true, volume: nil)
    }

    /// Returns a critical sound from a file of the app at a volume from 0 to 1.
    open class func criticalSoundNamed(_ name: UNNotificationSoundName, withAudioVolume volume: Float)
        -> UNNotificationSound
    {
        UNNotificationSound(name: name, isCritical: true, volume: volume)
    }

    /// Returns itself: a sound is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Compares name, kind and volume.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationSound else { return false }
        return other.name == name && other.isCritical == isCritical && other.volume == volume
    }

    /// Hashes name, kind and volume.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(name)
        hasher.combine(isCritical)
        hasher.combine(volume)
        return hasher.finalize()
    }

    /// Whether archives support secure coding: yes.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived sound.
    public required init?(coder: NSCoder) {
        name = coder.string("name").map { UNNotificationSoundName($0) }
        isCritical = coder.decodeBool(forKey: "isCritical")
        volume = coder.containsValue(forKey: "volume") ? coder.decodeFloat(forKey: "volume") : nil
        super.init()
    }

    /// Archives name, kind and volume.
    open func encode(with coder: NSCoder) {
        coder.encode(name.map { NSString(string: $0.rawValue) }, forKey: "name")
        coder.encode(isCritical, forKey: "isCritical")
        if let volume { coder.encode(volume, forKey: "volume") }
    }
}
