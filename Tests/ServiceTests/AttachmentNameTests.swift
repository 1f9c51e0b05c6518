import Pushcrypt
import Testing

@testable import PushcryptService

/// The names of attachment files: the system recognises the type, and no name is harmful.
struct AttachmentNameTests {
    @Test(arguments: [
        ("public.jpeg", "photo.jpg", "photo.jpg"),
        ("public.jpeg", "photo.JPEG", "photo.JPEG"),
        ("public.jpeg", "photo.png", "photo.png.jpg"),
        ("public.jpeg", "photo", "photo.jpg"),
        ("public.jpeg", ".jpg", "jpg.jpg"),
        ("public.jpeg", "...", "attachment.jpg"),
        ("public.jpeg", ".\u{301}a.jpg", "\u{301}a.jpg"),
        ("public.jpeg", "x" + String(repeating: "\u{301}", count: 127), "attachment.jpg"),
        ("public.jpeg", "a.b.c", "a.b.c.jpg"),
        ("public.mpeg-4", "film.mp4", "film.mp4"),
        ("com.adobe.pdf", "a.pdf", "a.pdf"),
        ("com.adobe.pdf", "a.p df", "a"),
        ("com.adobe.pdf", ".pdf", "pdf"),
        ("com.adobe.pdf", "Grüße.pdf", "Grüße.pdf"),
        ("public.png", String(repeating: "x", count: 255), String(repeating: "x", count: 251) + ".png"),
        ("public.png", String(repeating: "ü", count: 127), String(repeating: "ü", count: 125) + ".png"),
    ])
    func aFilesNameFitsItsType(_ type: String, _ name: String, _ expected: String) async throws {
        let reference = try SealedAttachment([1], type: type, name: name).reference
        #expect(AttachmentName.file(for: reference) == expected)
    }
}
