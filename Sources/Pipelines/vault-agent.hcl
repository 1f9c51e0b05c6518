# What the Vault agent needs to write the key where a sealer reads it. The key, once:
#   vault kv put secret/push sender_key=@sender.key
template {
  contents    = "{{ with secret \"secret/data/push\" }}{{ .Data.data.sender_key }}{{ end }}"
  destination = "/vault/secrets/sender.key"
  # Readable by the group and by nobody else: a key that everybody may read is refused.
  perms       = "0440"
}
