import PushcryptSend

runPushcryptSend()
