package secretscan_test

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
)

// The alphabets of tokens.
const (
	alnum  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	hex    = "0123456789abcdef"
	capsNo = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	oldPAT = "abcdefghijklmnopqrstuvwxyz234567"
	urlSet = alnum + "_-"
	b64Set = alnum + "+/"
)

// random returns a function that returns n random characters of a set, which look like a token. They are the same in
// each run.
func random(r *rand.Rand) func(set string, n int) string {
	return func(set string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(set[r.IntN(len(set))])
		}
		return b.String()
	}
}

// sample is a config value with its key.
type sample struct{ key, text string }

// class is a class of secrets with samples. The guide lists each class.
type class struct {
	name    string
	samples []sample
}

// at returns samples whose key does not suggest a secret.
func at(texts ...string) (all []sample) {
	for _, text := range texts {
		all = append(all, sample{"SETTING", text})
	}
	return all
}

// classes returns secrets of all classes, in the forms that their issuers document.
func classes() []class {
	c := random(rand.New(rand.NewPCG(30, 13)))
	begin := "-----BEGIN "
	pemOf := func(kind string) string {
		return begin + kind + "-----\nMII" + c(b64Set, 61) + "\n" + c(b64Set, 64) + "\n-----END " + kind + "-----\n"
	}
	return []class{
		{"a private key", at(pemOf("PRIVATE"+" KEY"), pemOf("RSA PRIVATE"+" KEY"), pemOf("OPENSSH PRIVATE"+" KEY"),
			strings.ReplaceAll(pemOf("EC PRIVATE"+" KEY"), "\n", `\n`),
			"PuTTY-User-Key-"+"File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n"+c(b64Set, 48),
			`{"kty":"RSA","n":"`+c(urlSet, 86)+`","e":"AQAB","d":"`+c(urlSet, 86)+`"}`,
			"[Interface]\nAddress = 10.0.0.2/32\nPrivate"+"Key = "+c(b64Set, 43)+"=\n",
			`{"type": "service_account", "private_key": "`+strings.ReplaceAll(pemOf("PRIVATE"+" KEY"), "\n", `\n`)+`"}`)},
		{"a private key in base64", at(encode(pemOf("PRIVATE" + " KEY")))},
		{"an age key", at("AGE-SECRET-" + "KEY-1" + c(capsNo, 58))},
		{"a GitHub token", at("gh"+"p_"+c(alnum, 36), "gh"+"s_"+c(alnum, 36), "github"+"_pat_"+c(alnum, 22)+"_"+c(alnum,
			59))},
		{"a GitLab token", at("gl"+"pat-"+c(urlSet, 20), "GR1348"+"941"+c(urlSet, 20), "gl"+"rt-"+c(urlSet, 20))},
		{"an Azure client secret", at(c(alnum, 3) + "8" + "Q~" + c(alnum, 34))},
		{"an Azure DevOps token", at(c(alnum, 76)+"AZ"+"DO"+c(alnum, 4), c(oldPAT, 52))},
		{"an Azure key", at(c(alnum, 76)+"+A"+"St"+c(alnum, 5)+"A==", c(alnum, 52)+"JQQ"+"J99"+c(alnum, 29))},
		{"a key in a connection string", at(
			"DefaultEndpointsProtocol=https;AccountName=acme;Account"+"Key="+c(b64Set, 86)+"==;EndpointSuffix=core.windows.net",
			"Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccess"+"Key="+c(b64Set, 43)+"=")},
		{"an Azure shared access signature", at(
			"https://acme.blob.core.windows.net/c?sv=2024-08-04&se=2030-01-01&sr=c&sp=r&s" + "ig=" + c(alnum, 43) + "%3D")},
		{"an AWS access key", at("AK"+"IA"+c(capsNo, 16), "AS"+"IA"+c(capsNo, 16))},
		{"an AWS secret access key", []sample{{"AWS_SECRET_" + "ACCESS_KEY", c(b64Set, 40)},
			{"credentials", "[default]\naws_secret_" + "access_key = " + c(b64Set, 40)}}},
		{"a Slack token", at("xox"+"b-123456789012-1234567890123-"+c(alnum, 24), "xox"+"p-123456789012-"+c(hex, 32),
			"xox"+"d-"+c(alnum, 60))},
		{"a Slack webhook", at("https://hooks.slack" + ".com/services/T" + c(capsNo, 8) + "/B" + c(capsNo, 10) + "/" +
			c(alnum, 24))},
		{"an npm token", at("np" + "m_" + c(alnum, 36))},
		{"a JWT", at(jwt(`{"alg":"RS256","typ":"JWT"}`, `{"sub":"`+c(alnum, 8)+`"}`))},
		{"a password in a URL", at("postgres://app:"+c(alnum, 12)+"@db.acme.io:5432/app", "https://me:"+c(alnum,
			20)+"@git.acme.io/a",
			"amqps://svc:"+c(alnum, 16)+"@mq.acme.io", "redis://:"+c(alnum, 16)+"@cache:6379/0",
			"POSTGRES://APP:"+"HQWZJKTRMX@DB/APP", "https://"+c(alnum, 40)+"@git.acme.io/a", "https://"+c(hex,
				40)+":@git.acme.io")},
		{"a password in a connection string", at(
			"Server=tcp:acme.database.windows.net,1433;User ID=app;Pass"+"word="+c(alnum, 16)+";Encrypt=True",
			"host=db user=app pass"+"word="+c(alnum, 12)+" dbname=app", "app:"+c(alnum, 12)+"@tcp(db:3306)/app",
			"jdbc:oracle:thin:app/"+c(alnum, 12)+"@db:1521/app", "jdbc:oracle:thin:app/\""+c(alnum, 12)+"\"@//db/app")},
		{"a line of an .htpasswd", at("admin:$apr1$"+c(alnum, 8)+"$"+c(alnum, 22), "a:b\nadmin:$2y$05$"+c(alnum, 53),
			"admin:{SHA}"+c(b64Set, 27)+"=", "users: ['admin:$$2a$$10$$"+c(alnum, 53)+"']", "a:$6$rounds=5000$"+c(alnum,
				16)+"$"+c(alnum, 86))},
		{"a token of a cluster", at("K10"+c(hex, 64)+"::server:"+c(hex, 32), "sha256~"+c(urlSet, 43))},
		{"a Google key", at("AI"+"za"+c(urlSet, 35), "GOC"+"SPX-"+c(urlSet, 28), "ya"+"29."+c(urlSet, 120))},
		{"a Stripe key", at("sk"+"_live_"+c(alnum, 24), "rk"+"_live_"+c(alnum, 24), "whs"+"ec_"+c(alnum, 32))},
		{"a Twilio key", at("SK" + c(hex, 32))},
		{"a SendGrid key", at("SG" + "." + c(urlSet, 22) + "." + c(urlSet, 43))},
		{"a Mailgun key", at("key" + "-" + c(hex, 32))},
		{"a Brevo key", at("xkeysib-" + c(hex, 64) + "-" + c(alnum, 16))},
		{"a Mailchimp key", at(c(hex, 32) + "-us" + "21")},
		{"a key of an AI service", at("sk-"+"proj-"+c(urlSet, 74)+"T3Blbk"+"FJ"+c(urlSet, 74), "sk-"+"ant-api03-"+c(urlSet,
			95),
			"hf"+"_"+c(alnum, 34), "gs"+"k_"+c(alnum, 52))},
		{"a HashiCorp token", at("hv"+"s."+c(urlSet, 90), c(alnum, 14)+".atlas"+"v1."+c(urlSet, 67))},
		{"a token of a cloud", at("dop"+"_v1_"+c(hex, 64), "HR"+"KU-AA"+c(urlSet, 58), "LT"+"AI"+c(alnum, 20),
			"da"+"pi"+c(hex, 32),
			"pul"+"-"+c(hex, 40))},
		{"a token of a monitoring service", at("NR"+"AK-"+c(capsNo, 27), c(hex, 36)+"NR"+"AL", "gl"+"sa_"+c(alnum,
			32)+"_"+c(hex, 8),
			"gl"+"c_"+encode(`{"o":"1","n":"acme","k":"`+c(alnum, 24)+`"}`), "dt0"+"c01."+c(capsNo, 24)+"."+c(capsNo, 64),
			"sntr"+"yu_"+c(hex, 64))},
		{"a token of a package registry", at("py"+"pi-AgEIcHlwaS5vcmc"+c(urlSet, 70), "ruby"+"gems_"+c(hex, 48),
			"oy"+"2"+strings.ToLower(c(alnum, 43)), "dc"+"kr_pat_"+c(urlSet, 27), "//npm.acme.io/:_auth"+"Token="+c(alnum, 36))},
		{"a token of a service for developers", at("ATA"+"TT3xFfGF0"+c(urlSet, 180), "lin"+"_api_"+c(alnum, 40),
			"PM"+"AK-"+c(hex, 24)+"-"+c(hex, 34), "sq"+"u_"+c(hex, 40), "dp."+"pt."+c(alnum, 43),
			"tsk"+"ey-auth-"+c(alnum, 12)+"CNTRL-"+c(alnum, 32))},
		{"a token of a shop or bank", at("shp"+"at_"+c(hex, 32), "sq0"+"csp-"+c(urlSet, 43))},
		{"a token of a messenger", at("https://discord.com/api/web"+"hooks/123456789012345678/"+c(urlSet, 68),
			"123456789"+":AA"+c(urlSet, 33), "https://acme.webhook"+".office.com/webhookb2/"+strings.Repeat("0a1b2c3d-", 4)+
				"0a1b2c3d4e5f@"+strings.Repeat("0a1b2c3d-", 4)+"0a1b2c3d4e5f/IncomingWebhook/"+c(hex, 32)+"/"+c(hex, 36))},
		{"credentials of a container registry", at(`{"auths":{"acme.io":{"auth":"` + encode("robot:"+c(alnum, 20)) + `"}}}`)},
		{"a credential in a header", at("Authorization: Basic "+encode("me:"+c(alnum, 12)), `{"Authorization": "Bearer `+
			c(alnum, 40)+`"}`)},
		{"a password in a command or a .netrc", at("machine git.acme.io login me password "+c(alnum, 12),
			"curl -s -u me:"+c(alnum, 12)+" https://acme.io")},
		{"a password by its name", []sample{{"DB_PASSWORD", "hunter2"}, {"spring.datasource.password", c(alnum, 12)},
			{"redisPassword", "Tr0ub4dor&3"}, {"SMTP_PASS", c(alnum, 10)},
			{"application.yaml", "db:\n  user: app\n  password: " + c(alnum, 12) + "\n"}, {".env", "A=b\nDB_PASSWORD=" +
				c(alnum, 10)},
			{"config.json", `{"user": "app", "password": "` + c(alnum, 14) + `"}`},
			{"web.xml", "<user>app</user><password>" + c(alnum, 14) + "</password>"}}},
		{"a key or token by its name", []sample{{"API_KEY", c(alnum, 32)}, {"DD_API_KEY", c(hex, 32)}, {"clientSecret",
			c(alnum, 40)},
			{"WEBHOOK_SECRET", c(hex, 40)}, {"AUTH_TOKEN", c(urlSet, 43)}, {"SNYK_TOKEN",
				"2f1a7c1e-6a55-4b6f-9b3c-0d5a4be4d0c1"},
			{"values.yaml", "telemetry:\n  apiKey: \"" + c(hex, 40) + "\"\n"}, {"AZURE_STORAGE_KEY", c(b64Set, 86) + "=="},
			{"encryption-key", c(b64Set, 43) + "="}, {"DISCORD_BOT_TOKEN", "MTA" + c(alnum, 23) + "." + c(alnum, 6) + "." +
				c(urlSet, 38)}}},
		{"a secret in base64", at(encode(`{"user": "app", "password": "`+c(alnum, 12)+`"}`), encode("gh"+"p_"+c(alnum, 36)),
			"kind: Secret\ndata:\n  url: "+encode("postgres://app:"+c(alnum, 12)+"@db/app")+"\n")},
		// These secrets have no mark by which to find them: they look like any other text.
		{"secrets without a mark", at(c(hex, 32), c(alnum, 40), c(b64Set, 86)+"==", "correct horse battery staple",
			"the password of the database is "+c(alnum, 12), encode(encode("gh"+"p_"+c(alnum, 36))))},
	}
}

// harmless returns values of real configurations that are not secrets.
func harmless() []sample {
	c := random(rand.New(rand.NewPCG(30, 14)))
	all := at(
		// documentation, emulators, placeholders
		"AKIA"+"IOSFODNN7EXAMPLE", "aws_secret_"+"access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"gh"+"p_"+strings.Repeat("x", 36), "AccountKey="+"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/"+
			"K1SZFPTOtr/KBHBeksoGMGw==",
		"AccountEndpoint=https://localhost:8081/;AccountKey="+"C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2n"+
			"Q9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==;",
		"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ."+
			"SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c", "sk_test_"+"4eC39HqLyjWDarjtT1zdp7dc",
		"postgres://user:password@localhost:5432/app", "https://{user}:{password}@git.acme.io",
		"amqp://guest:guest@localhost:5672",
		"https://user:pass@example.com/a", "xoxb-your-slack-bot-token-here",
		"-----BEGIN PRIVATE KEY-----\nMIIE...\n-----END PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\nREDACTED\n-----END PRIVATE KEY-----", "Authorization: Bearer <token>",
		"Authorization: Bearer ${TOKEN}", "mysql://root:%(password)s@db/app", "postgres://app:#{ENV['PW']}@db/app",
		"machine git.acme.io login me password ${PASSWORD}", "curl -u $USER:$PASSWORD https://acme.io",
		"//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
		// identifiers, hashes, versions
		c(hex, 40), c(hex, 64), "sha512-"+c(b64Set, 86)+"==", "sha256:"+c(hex, 64), "2f1a7c1e-6a55-4b6f-9b3c-0d5a4be4d0c1",
		"v1.27.3-eks-a5565ad", "registry.acme.io/app@sha256:"+c(hex, 64),
		"arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-x1Y2z3",
		"projects/acme/secrets/db/versions/3", "SKU_P1v3", "key-value-store-eu-1", "us-east-1", "W/\""+c(hex, 32)+"\"",
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI"+c(b64Set, 43)+" me@acme.io", "pk_"+"live_"+c(alnum, 24), "$2b$12$"+c(alnum,
			53),
		"-----BEGIN CERTIFICATE-----\nMII"+c(b64Set, 61)+"\n-----END CERTIFICATE-----", "age1"+strings.ToLower(c(alnum, 58)),
		"00-"+c(hex, 32)+"-"+c(hex, 16)+"-01", "data:image/png;base64,iVBORw0KGgo"+c(b64Set, 60), "AgBy"+c(b64Set, 300)+"==",
		// URLs and endpoints
		"https://login.microsoftonline.com/2f1a7c1e-6a55-4b6f-9b3c-0d5a4be4d0c1/oauth2/v2.0/token",
		"https://acme.vault.azure.net/secrets/db",
		"https://hooks.slack.com/", "ssh://git@github.com/acme/app", "jdbc:postgresql://db:5432/app?user=app&sslmode=require",
		"Server=tcp:db,1433;Database=app;Authentication=Active Directory Default", "redis://cache:6379/0?password=",
		"https://acme.io:8443?mail=me@acme.io", "https://acme.io?mail=a:b@acme.io",
		"mailto:a:b@acme.io?subject=password:%20x",
		"host=db password= dbname=app", "host=db user=app\npassword=\nsslmode=require", "jdbc:oracle:thin:@//db:1521/app",
		"https://"+c(hex, 32)+"@o1.ingest.sentry.io/12", "https://acme-2024@dev.azure.com/acme-2024/app",
		"Start with -----BEGIN PRIVATE"+" KEY----- and the base64",
		"tcp://10.0.0.1:2376",
		// files that mention secrets
		"password: ${DB_PASSWORD}\nuser: app", "password: \"{{ .Values.password }}\"",
		"secretName: db-credentials\nkey: password",
		"valueFrom:\n  secretKeyRef:\n    name: db\n    key: password", "spec:\n  passwordSecretRef:\n    name: db-password",
		"token: ${{ secrets.GITHUB_TOKEN }}", "password = os.environ[\"DB_PASSWORD\"]", "password: !vault |",
		"<password>${db.password}</password>",
		"tokenEndpoint: https://acme.io/oauth/token", "token_url = https://acme.io/oauth2/v1/token",
		"# password: see the vault",
		"passwordPolicy:\n  minLength: 12", "max_tokens: 4096", encode(`{"log": {"level": "debug", "format": "json"}}`),
		encode("server:\n  port: 8080\n  password: ${PASSWORD}\n"), "auth: {type: none}",
		`{"auths": {"acme.io": {"auth": ""}}}`,
	)
	for key, text := range map[string]string{
		"PASSWORD_FILE": "/run/secrets/db-password", "DB_PASSWORD": "{{ .SecretData.db }}", "POSTGRES_PASSWORD": "changeme",
		"RESET_PASSWORD": "true", "REQUIRE_PASSWORD": "required", "PASSWORD_MIN_LENGTH": "12",
		"DB_PASSWORD_SECRET": "app-db-credentials",
		"IMAGE_PULL_SECRET":  "acr-pull-secret-eu1", "TLS_SECRET": "wildcard-acme-io-2024", "SECRET_NAME": "db-" + c(hex, 10),
		"CLIENT_SECRET": "op://platform/app/client-secret", "API_KEY": "vault:secret/data/app#key",
		"TOKEN": "https://acme.io/oauth/token", "SSH_PUBLIC_KEY": "ssh-rsa AAAAB3Nza" + c(b64Set, 60),
		"PARTITION_KEY":     "customerId2024Region",
		"STRIPE_PUBLIC_KEY": "pk_" + "live_" + c(alnum, 24), "NEXT_PUBLIC_TOKEN": c(alnum, 20),
		"SECRETS_PROVIDER": "azure-key-vault",
		"PASSWORD":         "********", "DATABASE_PASSWORD": "<set-in-vault>", "KEYCLOAK_PASSWORD": "$(KEYCLOAK_PASSWORD)",
		"CSRF_TOKEN": "X-CSRF-Token-Header1", "CACHE_KEY": "app:v2:users:2024", "LICENSE_KEY": "community",
	} {
		all = append(all, sample{key, text})
	}
	return all
}

// TestClasses checks that at least 85% of all secrets are found, and 95% of those with a mark. At most 3% of the
// harmless values may be taken for secrets. The guide must list the classes.
func TestClasses(t *testing.T) {
	t.Parallel()
	all, found, marked, foundMarked := 0, 0, 0, 0
	covered := map[string]bool{}
	for _, c := range classes() {
		for i, s := range c.samples {
			is := secretscan.Find(s.key, s.text)
			all++
			if c.name != "secrets without a mark" {
				marked++
			}
			switch {
			case is == "":
				if c.name != "secrets without a mark" {
					t.Logf("%s %d: not found", c.name, i)
				}
				continue
			case c.name != "secrets without a mark":
				foundMarked++
			}
			found++
			if want := strings.TrimSuffix(is, ", in base64"); want != c.name && c.name != "a secret in base64" {
				t.Errorf("%s %d: taken for %s", c.name, i, is)
			}
			covered[c.name] = true
		}
	}
	values, wrong := harmless(), 0
	for _, s := range values {
		if is := secretscan.Find(s.key, s.text); is != "" {
			wrong++
			t.Logf("%s = %q is taken for %s", s.key, s.text, is)
		}
	}
	t.Logf("found %d of %d secrets, %d of %d with a mark; %d of %d harmless values are taken for secrets",
		found, all, foundMarked, marked, wrong, len(values))
	if found*100 < 85*all || foundMarked*100 < 95*marked || wrong*100 > 3*len(values) || all < 96 || len(values) < 77 {
		t.Error("too many secrets are not found, or too many harmless values are taken for secrets")
	}
	guide, err := os.ReadFile("../../../../templates/guides/secrets.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range secretscan.Classes() {
		if !covered[name] {
			t.Errorf("no sample of %s", name)
		}
		listed := regexp.MustCompile(`(?m)(^- |^- .*, )` + regexp.QuoteMeta(name) + `(,|:|$)`)
		if !listed.Match(guide) {
			t.Errorf("the guide does not list %s", name)
		}
	}
}

// TestTexts: the secrets in a text are found if and only if the text has one, and they are parts of it.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, c := range append(classes(), class{"no secret", harmless()}) {
		for i, s := range c.samples {
			is, found := secretscan.Find(s.key, s.text), secretscan.Texts(s.key, s.text)
			if (is != "") != (len(found) > 0) {
				t.Errorf("%s %d: taken for %q, with %d secrets", c.name, i, is, len(found))
			}
			for _, secret := range found {
				if secret == "" || !strings.Contains(s.text, secret) && !strings.Contains(is+c.name, "base64") &&
					!strings.Contains(s.text, "asic ") && !strings.Contains(s.text, `"auth"`) {
					t.Errorf("%s %d: the secret %q is not in the text", c.name, i, secret)
				}
			}
		}
	}
	for text, want := range map[string]string{
		"postgres://app:pa55phrase@db/app": "pa55phrase", "host=db user=app password=pa55phrase dbname=app": "pa55phrase",
		"db:\n  password: \"pa55phrase\"\n": "pa55phrase", "curl -u me:pa55phrase https://acme.io": "pa55phrase",
		encode("db:\n  password: pa55phrase # of the database\n"):    "pa55phrase",
		`{"Authorization": "Basic ` + encode("me:pa55phrase") + `"}`: "pa55phrase",
	} {
		if found := secretscan.Texts("", text); !slices.Contains(found, want) {
			t.Errorf("%s has the secrets %q, want %q", text, found, want)
		}
	}
	if found := secretscan.Texts("DB_PASSWORD", " pa55phrase\n"); !slices.Equal(found, []string{"pa55phrase"}) {
		t.Errorf("a password by its name: %q", found)
	}
}
