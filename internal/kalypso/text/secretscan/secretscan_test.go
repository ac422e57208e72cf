package secretscan_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
)

// The secrets in this file are invented. They are composed of parts, so that the secret scanners of Git hosts do not
// report this file.

// chars returns n characters as they occur in tokens.
func chars(n int) string { return strings.Repeat("Ab1Cd2Ef3Gh4", n/12+1)[:n] }

func upper(n int) string { return strings.Repeat("QWERTY234567", n/12+1)[:n] }

func pem(kind string) string {
	return "-----BEGIN " + kind + "-----\n" + chars(64) + "\n" + chars(20) + "==\n-----END " + kind + "-----\n"
}

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func jwt(header, claims string) string {
	return strings.Join([]string{
		base64.RawURLEncoding.EncodeToString([]byte(header)), base64.RawURLEncoding.EncodeToString([]byte(claims)), chars(43),
	}, ".")
}

// TestSecrets checks that each form of secret is found, alone and within a text.
func TestSecrets(t *testing.T) {
	t.Parallel()
	const privateKey, password, connection = "a private key", "a password in a URL", "a password in a connection string"
	const key = "a key in a connection string"
	shortest := encode("http://u:s3" + "cr3tx@h") // as long as the shortest base64 that is decoded
	tests := map[string][]string{
		privateKey: {"OpenSSH " + pem("OPENSSH PRIVATE"+" KEY"), pem("PGP PRIVATE" + " KEY BLOCK")},
		"a private key in base64": {
			encode(pem("RSA PRIVATE" + " KEY")), encode(pem("PRIVATE" + " KEY")),
			"client-key-data: " + encode(pem("EC PRIVATE"+" KEY")),
		},
		"a password in a URL, in base64": {shortest, "a " + shortest, "a=" + shortest + " b", chars(23) + "," + shortest},
		"an age key":                     {"AGE-SECRET-" + "KEY-1" + upper(58)},
		"a GitHub token": {
			"gh" + "p_" + chars(36), "gh" + "o_" + chars(36), "gh" + "u_" + chars(36), "gh" + "s_" + chars(36),
			"gh" + "r_" + chars(76),
			"github" + "_pat_" + chars(22) + "_" + chars(59),
		},
		"a GitLab token": {
			"gl" + "pat-" + chars(20), "gl" + "dt-" + chars(20), "gl" + "rt-" + chars(20), "gl" + "ptt-" + chars(40),
			"gl" + "cbt-64_" + chars(20), "gl" + "soat-" + chars(20), "gl" + "agent-" + chars(50),
			"gl" + "pat-" + chars(40) + ".01.abcdefghi",
		},
		"an Azure client secret": {chars(3) + "8" + "Q~" + chars(34), ".~-8" + "Q~" + chars(31)},
		"an Azure DevOps token":  {chars(76) + "AZ" + "DO" + "1a2B", strings.Repeat("abc2defgh3ijk", 4)},
		"a line of an .htpasswd": {"me:$2y$05$" + chars(53), "me:$apr1$" + chars(8) + "$" + chars(22),
			"me:{SHA}" + chars(27) + "="},
		"an Azure key": {
			chars(52) + "JQQ" + "J99" + chars(25) + "1a2B", chars(76) + "+A" + "St" + chars(5) + "A==",
			chars(76) + "AC" + "Db" + chars(5) + "Q==",
			chars(42) + "Az" + "Se" + chars(6),
		},
		key: {
			"DefaultEndpointsProtocol=https;AccountName=acme;Account" + "Key=" + chars(86) +
				"==;EndpointSuffix=core.windows.net",
			"Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccess" + "Key=" + chars(43) + "=",
			"HostName=acme.azure-devices.net;DeviceId=d;SharedAccess" + "Key=" + chars(43) + "=",
			"AccountEndpoint=https://acme.documents.azure.com:443/;Account" + "Key=" + chars(86) + "==;",
			"endpoint=https://acme.communication.azure.com/;access" + "key=" + chars(86) + "==",
		},
		"an Azure shared access signature": {
			"https://acme.blob.core.windows.net/c?sv=2024-08-04&se=2030-01-01&sr=c&sp=r&s" + "ig=" + chars(43) + "%3D",
			"sv=2024-08-04&s" + "ig=" + chars(43) + "%3D&se=2030-01-01",
		},
		"an AWS access key": {"AK" + "IA" + upper(16), "AS" + "IA" + upper(16), "key: AK" + "IA" + "0123456789ABCDEF"},
		"an AWS secret access key": {
			"[default]\naws_secret_" + "access_key = " + chars(40),
			"AWS_SECRET_" + "ACCESS_KEY=" + chars(20) + "/+" + chars(18) + "\nX=y",
		},
		"a Slack token": {
			"xox" + "b-123456789012-123456789012-" + chars(24), "xox" + "p-123456789012-" + chars(32),
			"xapp" + "-1-A123456-123456789-" + chars(64),
			"xoxe" + ".xox" + "b-1-" + chars(60),
		},
		"a Slack webhook": {"https://hooks.slack" + ".com/services/T" + upper(8) + "/B" + upper(10) + "/" + chars(24)},
		"an npm token":    {"np" + "m_" + chars(36), "//registry.npmjs.org/:_authToken=np" + "m_" + chars(36)},
		"a JWT": {
			jwt(`{"alg":"RS256","typ":"JWT"}`, `{"sub":"me"}`), "Bearer " + jwt(`{"typ":"JWT","alg":"none"}`,
				`{"iss":"https://acme.io"}`),
		},
		password: {
			"https://me:" + "hunter2@git.acme.io/repo", "postgres://app:" + "s3cr%40t@db:5432/app?sslmode=require",
			"redis://:" + "hunter2@cache:6379/0",
			"mongodb+srv://app:" + "p@ss@cluster.mongodb.net/app", "amqp://app:" + "hunter2@q1:5672,app:hunter2@q2:5672/vhost",
			"jdbc:postgresql://app:" + "hunter2@db/app", "url: 'mysql://root:" + "secret@west:8806/mysql2'",
			"https://x-access-token:" + "hunter2@github.com/a/b", "postgres://app:" + "HUNTER@db/app",
			"HTTPS://ME:" + "HUNTER@GIT.ACME.IO", "https://" + chars(20) + "@git.acme.io/a", "nats://" + chars(32) + "@n:4222",
			"https://" + chars(40) + ":@git.acme.io/a",
		},
		connection: {
			"Server=tcp:acme.database.windows.net,1433;User ID=app;Pass" + "word=hunter2;Encrypt=True",
			"Data Source=db;Initial Catalog=app;UID=app;P" + "WD=hunter2", "host=db user=app pass" + "word=hunter2 dbname=app",
			"acme.redis.cache.windows.net:6380,pass" + "word=hunter2=,ssl=True,abortConnect=False",
			"jdbc:sqlserver://db:1433;databaseName=app;user=app;pass" + "word=hunter2",
			"jdbc:mysql://db/app?user=app&pass" + "word=hunter2",
			"jdbc:oracle:thin:app/" + "hunter2@db:1521/app", "JDBC:ORACLE:THIN:APP/" + "HUNTER@//DB/APP",
			"app:" + "hunter2@tcp(db:3306)/app", "Server=db; User=app; Pass" + "word = 'hunter2 and more'",
		},
	}
	for _, kind := range []string{"PRIVATE", "RSA PRIVATE", "EC PRIVATE", "DSA PRIVATE", "ENCRYPTED PRIVATE",
		"ANY PRIVATE"} {
		text := pem(kind + " KEY")
		tests[privateKey] = append(tests[privateKey], text, strings.ReplaceAll(text, "\n", "\r\n"),
			fmt.Sprintf("{%q: %q}", "private_key", text), strings.ReplaceAll(text, "\n", " "))
	}
	for want, texts := range tests {
		for i, text := range texts {
			for _, within := range []string{text, "  " + text, "a: b\nc: " + text, "[x, \"" + text + "\"]"} {
				if got := secretscan.Find("KEY", within); got != want {
					t.Errorf("%s %d: %q (%d bytes)", want, i, got, len(within))
				}
			}
		}
	}
	if got := secretscan.Find("AWS_SECRET_"+"ACCESS_KEY", chars(40)); got != "an AWS secret access key" {
		t.Errorf("an AWS secret access key by its name: %q", got)
	}
}

// TestNoSecrets checks that texts which only look like secrets are not reported.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "text", "true", "12345678901234567890", "West US", strings.Repeat("x", 2000),
		// hashes and identifiers
		strings.Repeat("0a1b2c3d", 4), strings.Repeat("0a1b2c3d", 5), strings.Repeat("0a1b2c3d", 8), "sha256:" +
			strings.Repeat("0a1b2c3d", 8),
		"2f1a7c1e-6a55-4b6f-9b3c-0d5a4be4d0c1", "01ARZ3NDEKTSV4RRFFQ69G5FAV", chars(40), upper(40), encode(chars(30)),
		"ghcr.io/acme/app:1.2@sha256:" + strings.Repeat("0a1b2c3d", 8),
		"docker://nginx:1.25@sha256:" + strings.Repeat("0a1b2c3d", 8),
		"arn:aws:iam::123456789012:role/app", "/subscriptions/2f1a7c1e-6a55-4b6f-9b3c-0d5a4be4d0c1/resourceGroups/rg",
		// the public part of a key pair
		pem("CERTIFICATE"), pem("PUBLIC KEY"), pem("RSA PUBLIC KEY"), pem("PGP PUBLIC KEY BLOCK"), pem("CERTIFICATE REQUEST"),
		pem("PGP MESSAGE"),
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + chars(43) + " me@acme.io", "age1" + strings.ToLower(chars(58)),
		encode(pem("CERTIFICATE")), encode(pem("PUBLIC KEY")),
		// base64 of harmless text
		encode("hello, world"), encode(`{"log": {"level": "debug"}}`), encode(`{"alg": "RS256"}`),
		encode(strings.Repeat("text ", 200)),
		base64.RawURLEncoding.EncodeToString([]byte(`{"a":1}`)) + "." +
			base64.RawURLEncoding.EncodeToString([]byte(`{"b":2}`)) + "." + chars(20),
		// URLs and connection strings without a password
		"https://acme.io:8443/a/b?c=d", "https://me@git.acme.io/repo", "ssh://git@github.com/acme/app",
		"git@github.com:acme/app.git",
		"http://proxy:3128/@scope/package", "mysql://west:8806/mysql2", "https://acme.io/a:b@c",
		"jdbc:postgresql://db:5432/app?user=app",
		"Server=tcp:db,1433;Database=app;Authentication=Active Directory Default", "cache:6380,ssl=True,abortConnect=False",
		"https://acme.blob.core.windows.net/c?sig=none", "https://acme.io:8443?mail=me@acme.io",
		"https://[::1]:8080?mail=me@acme.io", "https://acme.io#a:b@c", "smtp://acme.io:587?from=me@acme.io",
		"mailto:me@acme.io?subject=a:b", "https://acme-2024@dev.azure.com/a", "ssh://" + chars(20) + "@git.acme.io/a",
		"https://2f1a7c1e-6a55-4b6f-9b3c-0d5a4be4d0c1@acme.io", "https://" + strings.Repeat("0a1b2c3d", 4) + "@acme.io/12",
		"jdbc:oracle:thin:@//db:1521/app", "jdbc:oracle:thin:/@db", "jdbc:oracle:thin:app/${PASSWORD}@db",
		"host=db password= dbname=app", "user=app\npassword=\nhost=db", "--user=app --password= --host=db",
		"DefaultEndpointsProtocol=https;AccountName=acme;EndpointSuffix=core.windows.net",
		// references and placeholders
		"postgres://app:${DB_PASSWORD}@db/app", "postgres://app:$DB_PASSWORD@db/app", "postgres://app:{{ .Password }}@db/app",
		"postgres://app:$(PASSWORD)@db/app", "postgres://app:<password>@db/app", "postgres://app:***@db/app",
		"postgres://app:xxxx@db/app",
		"postgres://app:PASSWORD@db/app", "postgres://app:%s@db/app", "postgres://app:%DB_PASSWORD%@db/app",
		"Server=db;User ID=app;Pass" + "word=${PASSWORD}", "Server=db;User ID=app;Pass" + "word={{ .ConfigData.X }};",
		"Server=db;Pass" + "word=;User=x",
		"@Microsoft.KeyVault(SecretUri=https://acme.vault.azure.net/secrets/db)", "vault:secret/data/db#pass" + "word",
		"ref+vault://secret/db#/password",
		"AccountName=acme;Account" + "Key=${KEY}", "-----BEGIN PRIVATE KEY-----\n{{ .Key }}\n-----END PRIVATE KEY-----",
		"-----BEGIN PRIVATE" + " KEY----- starts a key", "-----BEGIN PRIVATE" + " KEY-----\nand more",
		"-----BEGIN PRIVATE" + " KEY-----", "grep -q '-----BEGIN RSA PRIVATE" + " KEY-----' key.pem",
		// words
		"password=required", "reset-password", "?reset_password=1&user=me@acme.io is a page", "npm_config_registry",
		"npm_package_version",
		"ghp_", "glpat-TOKEN", "AKIA", "BAKIA" + upper(16), "eyJ", "xoxb-", "sk_live", "the Q~ of a text",
		"AZDO is Azure DevOps",
		// ciphertext
		"ENC[AES256_GCM,data:" + chars(40) + "=,iv:" + chars(43) + "=,tag:" + chars(22) + "==,type:str]",
		"postgres://app:ENC[AES256_GCM,data:" + chars(8) + ",iv:x,tag:y,type:str]@db/app", "AgB" + chars(300) + "==",
		"-----BEGIN AGE ENCRYPTED FILE-----\n" + chars(64) + "\n-----END AGE ENCRYPTED FILE-----",
	} {
		for _, within := range []string{text, "  " + text, "a: b\nc: " + text, "[x, \"" + text + "\"]"} {
			if got := secretscan.Find("KEY", within); got != "" {
				t.Errorf("%q is taken for %s", within, got)
			}
		}
	}
}
