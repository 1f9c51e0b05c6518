# Makes the Vault agent write the key where a sealer reads it. Store the key once:
#   vault kv put secret/push sender_key=@sender.key
template {
  contents    = "{{ with secret \"secret/data/push\" }}{{ .Data.data.sender_key }}{{ end }}"
  destination = "/vault/secrets/sender.key"
  # Readable only by the group: a key that everyone can read is refused.
  perms       = "0440"
}
