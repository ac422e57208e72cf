package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/pkg/apis/clientauthentication"
	"k8s.io/client-go/pkg/apis/clientauthentication/install"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/yamlend"
)

const (
	maxPluginOutput = 1 << 20
	// pluginWait is the time for which the output may stay open after a program has ended, since another program that
	// it started may keep it open.
	pluginWait = time.Second
)

// withPlugin returns a configuration with the credential that the program of a kubeconfig prints. When ctx is done, the
// program and the programs that it started are killed.
//
// client-go could run the program itself, and a deadline around client-go would not replace this file. client-go
// v0.37.2 runs it without a context: a request with a deadline of 2 seconds came back after 20 from a program that
// slept so long, and after 100 from one that left another program running. Until then the next request for the same
// credential waits too, and nothing kills them. It keeps all output: 300 MB that a program printed took 1 GiB. It
// copies standard error to the log of the provider without redaction, and ignores what a program prints after the
// credential. Its package is in the binary in any case, since package rest imports it.
func withPlugin(ctx context.Context, config *rest.Config) (*rest.Config, error) {
	found, err := runPlugin(ctx, config)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("it did not end in time")
		}
		return nil, fmt.Errorf("the program %q, which gets the credential: %w", config.ExecProvider.Command, err)
	}
	made := rest.CopyConfig(config)
	made.ExecProvider = nil
	if found.Token != "" {
		made.BearerToken, made.BearerTokenFile = found.Token, ""
	}
	if found.ClientCertificateData != "" {
		made.CertData, made.KeyData = []byte(found.ClientCertificateData), []byte(found.ClientKeyData)
	}
	return made, nil
}

// runPlugin runs the program by the protocol of client.authentication.k8s.io. No error contains its output.
func runPlugin(ctx context.Context, config *rest.Config) (*clientauthentication.ExecCredentialStatus, error) {
	program := config.ExecProvider
	if program.InteractiveMode == api.AlwaysExecInteractiveMode {
		return nil, errors.New("interactiveMode is Always, but no one can answer its questions")
	}
	version, err := schema.ParseGroupVersion(program.APIVersion)
	scheme := runtime.NewScheme()
	install.Install(scheme)
	if err != nil || !scheme.IsVersionRegistered(version) {
		return nil, fmt.Errorf("its apiVersion %q is unknown", program.APIVersion)
	}
	codecs := serializer.NewCodecFactory(scheme)
	credential := &clientauthentication.ExecCredential{}
	if program.ProvideClusterInfo {
		credential.Spec.Cluster, err = rest.ConfigToExecCluster(config)
		if err != nil {
			return nil, errors.New("the cluster of the kubeconfig can't be passed on: a file that it refers to can't be read")
		}
	}
	info, err := runtime.Encode(codecs.LegacyCodec(version), credential)
	if err != nil {
		return nil, errors.New("the cluster of the kubeconfig can't be passed on")
	}
	environment := os.Environ()
	for _, e := range program.Env {
		environment = append(environment, e.Name+"="+e.Value)
	}
	environment = append(environment, "KUBERNETES_EXEC_INFO="+string(info))
	output, err := runProgram(ctx, environment, program.Command, program.Args)
	if err != nil {
		return nil, err
	}
	return parsePlugin(codecs, version, output, credential)
}

// parsePlugin reads the output of a program over the credential that it was asked for.
func parsePlugin(
	codecs serializer.CodecFactory, version schema.GroupVersion, output []byte,
	credential *clientauthentication.ExecCredential,
) (*clientauthentication.ExecCredentialStatus, error) {
	line := yamlend.LineAfterFirst(string(output))
	_, kind, err := codecs.UniversalDecoder(version).Decode(output, nil, credential)
	switch {
	case err != nil || kind.GroupVersion() != version || credential.Status == nil:
		return nil, fmt.Errorf("it does not print an ExecCredential of %s with a status", version)
	case line > 0: // the decoder reads only the first document
		return nil, fmt.Errorf("it prints text after the ExecCredential, in line %d of its output", line)
	case (credential.Status.ClientCertificateData == "") != (credential.Status.ClientKeyData == ""):
		return nil, errors.New("it prints a certificate or a key alone")
	case credential.Status.Token == "" && credential.Status.ClientKeyData == "":
		return nil, errors.New("it prints neither a token nor a certificate with its key")
	}
	return credential.Status, nil
}

// runProgram returns the output of a program.
func runProgram(ctx context.Context, environment []string, name string, arguments []string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	output := &boundedOutput{full: cancel}
	program := exec.CommandContext(ctx, name, arguments...) //nolint:gosec // the user allows it: allow_exec
	program.Env, program.Stdout, program.WaitDelay = environment, output, pluginWait
	ownGroup(program)
	program.Cancel = func() error { return endGroup(program) }
	err := program.Run()
	if program.Process != nil {
		_ = endGroup(program) // programs that it started
	}
	var exit *exec.ExitError
	switch {
	case output.exceeded:
		return nil, fmt.Errorf("it prints more than %d MiB", maxPluginOutput>>20)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return nil, errors.New("it is not installed")
	case errors.As(err, &exit):
		return nil, errors.New("it failed: " + exit.String())
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, err
	}
	return output.text.Bytes(), nil
}

// boundedOutput keeps the output of a program. It calls full if that is too long.
type boundedOutput struct {
	text     bytes.Buffer
	full     func()
	exceeded bool
}

func (o *boundedOutput) Write(p []byte) (int, error) {
	if o.text.Len()+len(p) > maxPluginOutput {
		o.exceeded = true
		o.full()
		return 0, errors.New("too much output")
	}
	return o.text.Write(p)
}
