package provider

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/schemas"
)

// The framework gets the private state without the bulk data, or all of a private state that can't be read.
func TestPrivateStateWithoutBulk(t *testing.T) {
	for _, tt := range []struct{ private, framework, bulk string }{
		{"", "", ""},
		{`{}`, `{}`, ""},
		{`{"other":"MQ=="}`, `{"other":"MQ=="}`, ""},
		{`{"delivery":"AP8="}`, `{}`, "\x00\xff"},
		{"{ \"other\": \"MQ==\",\n \"delivery\": \"AP8=\" }", `{"other":"MQ=="}`, "\x00\xff"},
		{`{"delivery":""}`, `{}`, ""},
		{`{"delivery":null}`, `{"delivery":null}`, ""},
		{`{"delivery":"no"}`, `{"delivery":"no"}`, ""},
		{`{"delivery":"AP8="`, `{"delivery":"AP8="`, ""},
		{`none`, `none`, ""},
	} {
		ctx, framework := withBulk(t.Context(), []byte(tt.private))
		if bulk := *schemas.Bulk(ctx); string(framework) != tt.framework || string(bulk) != tt.bulk {
			t.Errorf("%s becomes %s with %q, not %s with %q", tt.private, framework, bulk, tt.framework, tt.bulk)
		}
	}
}
