provider "kalypso" {
  git_credentials = [
    { password = "canary" },                                                                       # error: Invalid credential: url:
    { url = "https://example.com", username = "a", password = "canary", bearer_token = "canary" }, # error: Invalid credential: bearer_token:
    { url = "https://example.com/a", username = "a" },                                             # error: Invalid credential: password:
    { url = "http://example.com/b", bearer_token = "canary" },                                     # error: Invalid credential: url: would send the credential over plain http
    { url = "https://x:canary@example.com/c", bearer_token = "canary" },                           # error: Invalid credential: url: contains a user name or password
    { url = "ssh://git@example.com/d", private_key = "canary" },                                   # error: Invalid credential: private_key:
    { url = "https://example.com/e", bearer_token = "canary", ca_certificate = "none" },           # error: Invalid credential: ca_certificate:
  ]
  commit_author = { name = "A <b>", email = "a@b" } # error: Invalid commit author
  github = {                                        # error: Invalid base URL; Invalid installation ID; Invalid private key; Conflicting credentials: token and app
    token    = "canary"
    base_url = "http://github.acme.io"
    app      = { id = "1", installation_id = "one", private_key = "canary" }
  }
}

provider "kalypso" {
  alias         = "blank"
  commit_author = { name = " ", email = "\n" } # error: Invalid commit author: The text is blank; Invalid commit author: The text is blank
}

resource "kalypso_config" "test" {
  name = "c"
}

resource "kalypso_config" "blank" {
  provider = kalypso.blank
  name     = "c"
}
