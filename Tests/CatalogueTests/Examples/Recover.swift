import Pushcrypt
import PushcryptKeyStore

func recover(_ phone: SQLiteKeyStore, _ fresh: ProviderPublicKey, for topic: Topic, at now: Timestamp) throws {
    try phone.pinProvider(fresh, named: "provider", topic: topic, replace: true, at: now)
}
