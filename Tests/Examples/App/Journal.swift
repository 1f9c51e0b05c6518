import Foundation
import PushcryptKeyStore
import PushcryptService

func exportedJournal() throws -> Data {
    Data(JournalExport(try AppGroup(identifier: "group.com.example").journal().entries()).json)
}
