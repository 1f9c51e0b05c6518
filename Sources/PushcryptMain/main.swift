import PushcryptCommand

runPushcrypt()
