/// A type of file that the system shows with a notification, from Apple's documentation of `UNNotificationAttachment`.
package struct ShownFileType: Sendable {
    /// A uniform type identifier.
    package let type: String
    /// The file name extensions in lower case, without the dot, the most common first.
    package let fileExtensions: [String]
    /// The maximum size of the plain file in bytes.
    package let largestSize: Int

    private static let sound = 5_000_000
    private static let picture = 10_000_000
    private static let film = 50_000_000

    /// All such types.
    package static let all = [
        ShownFileType("public.jpeg", ["jpg", "jpeg"], picture),
        ShownFileType("public.png", ["png"], picture),
        ShownFileType("com.compuserve.gif", ["gif"], picture),
        ShownFileType("public.aiff-audio", ["aiff", "aif"], sound),
        ShownFileType("com.microsoft.waveform-audio", ["wav", "wave"], sound),
        ShownFileType("public.mp3", ["mp3"], sound),
        ShownFileType("public.mpeg-4-audio", ["m4a"], sound),
        ShownFileType("public.mpeg", ["mpg", "mpeg"], film),
        ShownFileType("public.mpeg-2-video", ["m2v"], film),
        ShownFileType("public.mpeg-4", ["mp4"], film),
        ShownFileType("public.avi", ["avi"], film),
    ]

    private init(_ type: String, _ fileExtensions: [String], _ largestSize: Int) {
        self.type = type
        self.fileExtensions = fileExtensions
        self.largestSize = largestSize
    }

    /// Finds a type by its identifier.
    package init?(type: String) {
        guard let found = Self.all.first(where: { $0.type == type }) else { return nil }
        self = found
    }

    /// Finds a type by the extension of a file name, ignoring case.
    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let ending = fileName[fileName.utf8.index(after: dot)...].lowercased()
        guard let found = Self.all.first(where: { $0.fileExtensions.contains(ending) }) else { return nil }
        self = found
    }
}
