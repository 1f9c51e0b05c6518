import Pushcrypt
import PushcryptKeyStore

func recover(_ phone: SQLiteKeyStore, _ fresh: SenderPublicKey, for topic: Topic, at now: Timestamp) throws {
    try phone.trustSender(fresh, named: "provider", topic: topic, replace: true, at: now)
}
