// As on Apple platforms, importing Intents also imports Foundation's names.
@_exported public import Foundation

/// The type of a handle.
public enum INPersonHandleType: Int, Sendable {
    /// Neither of the others: a name in an app.
    case unknown
    /// An email address.
    case emailAddress
    /// A phone number.
    case phoneNumber
}

/// The handle of a person.
open class INPersonHandle: NSObject {
    /// The name.
    open private(set) var value: String?
    /// Its type.
    open private(set) var type: INPersonHandleType

    /// Creates a handle.
    public init(value: String?, type: INPersonHandleType) {
        self.value = value
        self.type = type
    }
}

/// A picture.
open class INImage: NSObject {
    package let data: Data

    /// Creates a picture from the bytes of a file.
    public init(imageData: Data) { data = imageData }
}

/// A person.
open class INPerson: NSObject {
    /// The person's handle.
    open private(set) var personHandle: INPersonHandle?
    /// The name to show.
    open private(set) var displayName: String
    /// The person's picture.
    open private(set) var image: INImage?
    /// The app's own name for the person.
    open private(set) var customIdentifier: String?

    /// Creates a person. The components of the name and the contact are not kept.
    public init(
        personHandle: INPersonHandle, nameComponents: PersonNameComponents?, displayName: String?, image: INImage?,
        contactIdentifier: String?, customIdentifier: String?
    ) {
        self.personHandle = personHandle
        self.displayName = displayName ?? ""
        self.image = image
        self.customIdentifier = customIdentifier
    }
}

/// A text that can be spoken.
open class INSpeakableString: NSObject {
    /// The text.
    open private(set) var spokenPhrase: String

    /// Creates a text.
    public init(spokenPhrase: String) { self.spokenPhrase = spokenPhrase }
}
