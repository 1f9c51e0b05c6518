import Pushcrypt

func headers(of request: PushRequest) -> [String: String] {
    [
        "apns-topic": request.topic,
        "apns-push-type": "\(request.pushType)",
        "apns-priority": "\(request.priority.rawValue)",
        "apns-expiration": "\(request.expiration)",
        "apns-collapse-id": request.collapseID,
    ]
}
