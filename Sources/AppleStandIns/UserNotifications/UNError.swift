public import Foundation

/// The domain of notification errors.
public let UNErrorDomain = "UNErrorDomain"

/// An error of a notification call.
public struct UNError: CustomNSError, LocalizedError, Hashable, Sendable {
    /// The error codes, with Apple's numbers.
    public enum Code: Int, Sendable {
        /// The user has not allowed notifications.
        case notificationsNotAllowed = 1
        /// The URL of an attachment is not a readable file.
        case attachmentInvalidURL = 100
        /// The type of an attachment is not supported.
        case attachmentUnrecognizedType
        /// An attachment is too large.
        case attachmentInvalidFileSize
        /// An attachment is not in the system's store.
        case attachmentNotInDataStore
        /// An attachment could not be moved into the system's store.
        case attachmentMoveIntoDataStoreFailed
        /// An attachment is damaged.
        case attachmentCorrupt
        /// A trigger has no date.
        case notificationInvalidNoDate = 1400
        /// A request has no content.
        case notificationInvalidNoContent
        /// Another framework's object may not change a content.
        case contentProvidingObjectNotAllowed = 1500
        /// Another framework's object is not valid.
        case contentProvidingInvalid
        /// A badge count is not valid.
        case badgeInputInvalid = 1600

        /// Matches an error with this code in `catch`.
        public static func ~= (code: Self, error: any Error) -> Bool { (error as? UNError)?.code == code }
    }

    /// The error code.
    public let code: Code

    /// Creates an error with a code.
    public init(_ code: Code) { self.code = code }

    /// The domain of notification errors.
    public static var errorDomain: String { UNErrorDomain }
    /// The number of the code.
    public var errorCode: Int { code.rawValue }
    /// The name of the code.
    public var errorDescription: String? { "notification error \(code.rawValue): \(code)" }
}
