/// The words of this project's that a person may see, in one language.
struct StringTable: Equatable, Sendable {
    /// As Apple names it, for example `en`.
    let language: String
    /// The replacement of `(Encrypted)`: a push that did not open, or was not sealed.
    let encrypted: String
    /// The replacement of `New message`: a hidden body, and a placeholder.
    let newMessage: String

    /// The keys are the English words, so that they are what is shown in a language without a table.
    static let all = [
        StringTable(language: "ar", encrypted: "(مشفّر)", newMessage: "رسالة جديدة"),
        StringTable(language: "en", encrypted: "(Encrypted)", newMessage: "New message"),
        StringTable(language: "es", encrypted: "(Cifrado)", newMessage: "Mensaje nuevo"),
        StringTable(language: "ja", encrypted: "(暗号化済み)", newMessage: "新着メッセージ"),
        StringTable(language: "ko", encrypted: "(암호화됨)", newMessage: "새 메시지"),
    ]
}

extension IOSScaffold {
    /// The project's texts for users, one file for each language.
    var stringTables: [ScaffoldFile] {
        StringTable.all.map { table in
            ScaffoldFile(
                path: "App/\(table.language).lproj/Localizable.strings",
                text: """
                    /* A push that could not be opened, or was not encrypted. */
                    "(Encrypted)" = "\(table.encrypted)";

                    /* In place of a text that is hidden, or not opened yet. */
                    "New message" = "\(table.newMessage)";

                    """)
        }
    }
}
