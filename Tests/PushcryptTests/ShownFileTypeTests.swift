import Testing

@testable import Pushcrypt

@Suite struct ShownFileTypeTests {
    @Test(arguments: [
        ("photo.jpg", "public.jpeg"), ("PHOTO.JPEG", "public.jpeg"), ("a.b.mp4", "public.mpeg-4"),
        (".png", "public.png"),
        ("ring.wav", "com.microsoft.waveform-audio"),
    ])
    func aNameTellsItsType(_ name: String, _ type: String) {
        #expect(ShownFileType(fileName: name)?.type == type)
    }

    @Test(arguments: ["", "jpg", "photo.", "photo.jpg.txt", "photo.jpg ", "photo/jpg"])
    func anotherNameTellsNone(_ name: String) {
        #expect(ShownFileType(fileName: name) == nil)
    }
}
