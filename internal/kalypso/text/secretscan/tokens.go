package secretscan

import (
	"encoding/base64"
	"regexp"
	"strings"
)

// tokens lists tokens that contain a prefix or another text of their issuer, and credentials in known file formats.
var tokens = []rule{
	{name: "a Google key", anchors: []string{"AIza", "GOCSPX-", "ya29.", ":APA91"},
		pattern: regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{35}|\bGOCSPX-[A-Za-z0-9_-]{28}|\bya29\.[A-Za-z0-9_-]{20}` +
			`|\bAAAA[A-Za-z0-9_-]{7}:APA91[A-Za-z0-9_-]{100}`)},
	{name: "a Stripe key", anchors: []string{"k_live_", "k_test_", "whsec_"},
		pattern: regexp.MustCompile(`\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|\bwhsec_[A-Za-z0-9+/]{24}`)},
	{name: "a Twilio key", anchors: []string{"SK"}, pattern: regexp.MustCompile(`\bSK[0-9a-f]{32}\b`)},
	{name: "a SendGrid key", anchors: []string{"SG."},
		pattern: regexp.MustCompile(`\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`)},
	{name: "a Mailgun key", anchors: []string{"key-"}, pattern: regexp.MustCompile(`(?:^|[^\w-])key-[0-9a-f]{32}\b`)},
	{name: "a Brevo key", anchors: []string{"xkeysib-"}, pattern: regexp.MustCompile(`\bxkeysib-[0-9a-f]{64}`)},
	{name: "a Mailchimp key", anchors: []string{"-us"}, pattern: regexp.MustCompile(`\b[0-9a-f]{32}-us[0-9]{1,2}\b`)},
	{name: "a key of an AI service", anchors: []string{
		"T3BlbkFJ", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-ant-", "hf_", "gsk_", "r8_", "xai-", "pplx-",
	}, pattern: regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16}` +
		`|\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40}|\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{60}|\bhf_[A-Za-z0-9]{34}` +
		`|\bgsk_[A-Za-z0-9]{40}|\br8_[A-Za-z0-9]{37}|\bxai-[A-Za-z0-9]{60}|\bpplx-[A-Za-z0-9]{40}`)},
	{name: "a HashiCorp token", anchors: []string{"hvs.", "hvb.", "hvr.", ".atlasv1."},
		pattern: regexp.MustCompile(`\bhv[sbr]\.[A-Za-z0-9_-]{24}|\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60}`)},
	{name: "a token of a cloud", anchors: []string{
		"_v1_", "HRKU-", "LTAI", "AKID", "fo1_", "fm2_", "nfp_", "pscale_", "sbp_", "pul-", "dapi", "ABSK",
		"v1.0-", "AQVN", "4b1d",
	}, pattern: regexp.MustCompile(`\bdo[opr]_v1_[a-f0-9]{64}|\bHRKU-[A-Za-z0-9_-]{36}|\bLTAI[A-Za-z0-9]{17,20}\b` +
		`|\bAKID[A-Za-z0-9]{32}\b|\bfo1_[A-Za-z0-9_-]{40}|\bfm2_[A-Za-z0-9+/=_,-]{80}|\bnfp_[A-Za-z0-9]{36}` +
		`|\bpscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.=-]{32}|\bsbp_[a-f0-9]{40}|\bpul-[a-f0-9]{40}|\bdapi[0-9a-f]{32}` +
		`|\bABSK[A-Za-z0-9+/]{100}|\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100}|\bAQVN[A-Za-z0-9_-]{35}|\b4b1d[A-Za-z0-9]{38}\b`)},
	{name: "a token of a cluster", anchors: []string{"::s", "sha256~"},
		pattern: regexp.MustCompile(`\bK10[0-9a-f]{64}::server:[A-Za-z0-9]{8}|\bsha256~[A-Za-z0-9_-]{43}`)},
	{name: "a token of a monitoring service", anchors: []string{
		"NRAK-", "NRII-", "NRAL", "glc_", "glsa_", "eyJrIjoi", "sntrys_", "sntryu_", "dt0",
	}, pattern: regexp.MustCompile(`\bNR(?:AK|II)-[A-Za-z0-9_-]{27}|\b[0-9a-f]{36}NRAL\b|\bglc_[A-Za-z0-9+/]{32}` +
		`|\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|\beyJrIjoi[A-Za-z0-9+/]{40}|\bsntry[su]_[A-Za-z0-9+/=_]{40}` +
		`|\bdt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}`)},
	{name: "a token of a package registry", anchors: []string{
		"pypi-AgE", "rubygems_", "oy2", "dckr_", "_authToken", "_password", "_auth", "AKCp", "cmVmdGtu", "CLOJARS_",
	}, pattern: regexp.MustCompile(`\bpypi-AgE[A-Za-z0-9_-]{50}|\brubygems_[a-f0-9]{48}|\boy2[a-z0-9]{43}\b` +
		`|\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20}|:_(?:authToken|password|auth)\s*=\s*"?[A-Za-z0-9+/=_.-]{8}` +
		`|\bAKCp[A-Za-z0-9]{69}|\bcmVmdGtu[A-Za-z0-9]{56}|\bCLOJARS_[a-z0-9]{60}`)},
	{name: "a token of a service for developers", anchors: []string{
		"ATATT3", "ATCTT3", "ATBB", "lin_api_", "ntn_", "figd_", "PMAK-", "squ_", "sqp_", "sqa_", "CCIPAT_", "bkua_",
		"ops_ey",
		"dp.pt.", "dp.st.", "dp.sa.", "dp.ct.", "tskey-", "CFPAT-", "sdk-", "pnu_", "sgp_", "tfp_", "API-", "rdme_", "_mmk",
	}, pattern: regexp.MustCompile(`\bAT[AC]TT3[A-Za-z0-9_=-]{100}|\bATBB[A-Za-z0-9]{24}|\blin_api_[A-Za-z0-9]{40}` +
		`|\bntn_[A-Za-z0-9]{40}|\bfigd_[A-Za-z0-9_-]{36}|\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}|\bsq[upa]_[a-f0-9]{40}` +
		`|\bCCIPAT_[A-Za-z0-9_]{40}|\bbkua_[a-f0-9]{40}|\bops_eyJ[A-Za-z0-9+/=]{60}` +
		`|\bdp\.(?:pt|st|sa|ct)\.[A-Za-z0-9._-]{40}|\btskey-[a-z]+-[A-Za-z0-9]+-[A-Za-z0-9]{16}|\bCFPAT-[A-Za-z0-9_-]{40}` +
		`|\bsdk-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\bpnu_[A-Za-z0-9]{36}` +
		`|\bsgp_[0-9a-f_]{40}|\btfp_[A-Za-z0-9_.=-]{40}|\bAPI-[A-Z0-9]{26}\b|\brdme_[a-z0-9]{70}` +
		`|\b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b`)},
	{name: "a token of a shop or bank", anchors: []string{
		"shpat_", "shpca_", "shppa_", "shpss_", "sq0atp-", "sq0csp-", "EAAA", "access-", "FLWSECK", "duffel_",
		"EZAK", "EZTK", "shippo_live_", "shippo_test_",
	}, pattern: regexp.MustCompile(`\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|\bsq0(?:atp-[A-Za-z0-9_-]{22}` +
		`|csp-[A-Za-z0-9_-]{43})` +
		`|(?:^|[^A-Za-z0-9+/_-])EAAA[A-Za-z0-9_-]{60}|\baccess-(?:sandbox|development|production)-[0-9a-f-]{36}` +
		`|\bFLWSECK(?:_TEST)?-[a-f0-9]{32}` +
		`|\bduffel_(?:live|test)_[A-Za-z0-9_-]{43}|\bEZ[AT]K[A-Za-z0-9]{54}|\bshippo_(?:live|test)_[0-9a-f]{40}`)},
	{name: "a token of a messenger", anchors: []string{
		"/api/webhooks/", ":AA", "webhook.office.com/",
	}, pattern: regexp.MustCompile(`discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{60}` +
		`|\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b` +
		`|webhook\.office\.com/webhookb2/[A-Za-z0-9@-]{36,}/IncomingWebhook/[A-Za-z0-9]{32}/`)},
	{name: "a private key", anchors: []string{"PuTTY-User-Key-File-"},
		pattern: regexp.MustCompile(`PuTTY-User-Key-File-[23]:(?s:.*)\nPrivate-Lines:`)},
	{name: "a private key", anchors: []string{`"kty"`},
		pattern: regexp.MustCompile(`"[dk]"\s*:\s*"[A-Za-z0-9_-]{30}`)},
	{name: "a private key", anchors: []string{"PrivateKey"},
		pattern: regexp.MustCompile(`\bPrivateKey\s*=\s*[A-Za-z0-9+/]{43}=`)},
	{
		name: "credentials of a container registry", anchors: []string{`"auth"`},
		pattern: regexp.MustCompile(`"auth"\s*:\s*"([A-Za-z0-9+/]{8,})={0,2}"`),
		secret:  []int{1},
		is:      func(_ string, match []string) bool { return isLogin(match[1]) },
	},
	{
		name: "a credential in a header", anchors: []string{"uthorization", "UTHORIZATION"},
		pattern: regexp.MustCompile(`(?i)authorization["']?\s*[:=]\s*["']?(?:basic\s+([A-Za-z0-9+/]{8,})={0,2}` +
			`|(?:bearer|token)\s+([A-Za-z0-9._~+/-]{16,})=*)`),
		secret: []int{1, 2},
		is: func(_ string, match []string) bool {
			return isLogin(match[1]) || isRandom(match[2]) && !refersTo(match[2])
		},
	},
	{
		name: "a password in a command or a .netrc", anchors: []string{"machine ", "curl "},
		pattern: regexp.MustCompile(`\bmachine\s+\S+\s+login\s+\S+\s+password\s+(\S+)` +
			`|\bcurl\b[^\n]*\s(?:-u|--user)[\s=]['"]?[^\s:'"]+:([^\s'"]+)`),
		secret: []int{1, 2},
		is:     func(_ string, match []string) bool { return !isReference(match[1] + match[2]) },
	},
}

// isLogin reports whether a text is a user with a password, in base64 without padding.
func isLogin(encoded string) bool {
	data, err := base64.RawStdEncoding.DecodeString(encoded)
	_, password, ok := strings.Cut(string(data), ":")
	return err == nil && ok && password != "" && isPrintable(data) && !isReference(password)
}
