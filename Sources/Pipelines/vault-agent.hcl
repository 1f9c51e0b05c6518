# Makes the Vault agent write the key where a sealer reads it. Store the key once:
#   vault kv put secret/push signing_key=@signing.key
template {
  contents    = "{{ with secret \"secret/data/push\" }}{{ .Data.data.signing_key }}{{ end }}"
  destination = "/vault/secrets/signing.key"
  # Readable only by the group; with more, each start warns.
  perms       = "0440"
}
