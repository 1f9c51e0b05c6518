internal import Foundation
internal import Pushcrypt

/// What the file of an attachment is called on the device.
///
/// The system tells the type of a file by its extension, so that has to fit the type that the sender gives. Not run on
/// Apple systems.
enum AttachmentName {
    /// Gives one component of a path, at most 255 bytes, that cannot hide.
    static func file(for reference: AttachmentReference) -> String {
        // A name that begins with a dot is not listed.
        // By scalars: with a combining mark, a dot is another character, and hides a file all the same.
        let name = String(String.UnicodeScalarView(reference.name.unicodeScalars.drop { $0 == "." }))
        let (stem, ending) = parts(of: name)
        guard let fitting = ShownFileType(type: reference.type)?.fileExtensions, let usual = fitting.first else {
            return joined(stem, safe(ending))
        }
        if fitting.contains(ending.lowercased()) { return joined(stem, ending) }
        return joined(name, usual)
    }

    private static func parts(of name: String) -> (stem: String, ending: String) {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[dot...].dropFirst()))
    }

    /// The extension, if it is an ordinary one.
    private static func safe(_ ending: String) -> String {
        let isOrdinary = ending.utf8.count <= 16 && ending.utf8.allSatisfy(\.isLetterOrDigit)
        return isOrdinary ? ending : ""
    }

    private static func joined(_ stem: String, _ ending: String) -> String {
        let end = ending.isEmpty ? "" : ".\(ending)"
        var stem = stem.isEmpty ? "attachment" : stem
        while stem.utf8.count + end.utf8.count > AttachmentReference.maximumNameLength { stem.removeLast() }
        // One character may have been all of it.
        return (stem.isEmpty ? "attachment" : stem) + end
    }
}
