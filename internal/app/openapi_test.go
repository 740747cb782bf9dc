package app

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"testing"

	"kuhnya/internal/auth"
	"kuhnya/internal/bonus/bonushttp"
	"kuhnya/internal/establishment/establishmenthttp"
	"kuhnya/internal/kitchen/kitchenhttp"
	"kuhnya/internal/ops/opshttp"
)

var update = flag.Bool("update", false, "write api/openapi.yaml instead of comparing it")

// TestOpenAPI keeps the committed document equal to what the code serves.
func TestOpenAPI(t *testing.T) {
	api := NewAPI(Config{Version: "v1", Log: slog.New(slog.DiscardHandler)}, auth.NewVerifier(auth.Key{}))
	kitchenhttp.Register(api, nil, nil, nil)
	establishmenthttp.Register(api, nil, nil)
	bonushttp.Register(api, nil, nil)
	for _, service := range Services {
		opshttp.Register(api, opshttp.Service{Name: service})
	}
	served, _ := api.OpenAPI()
	const path = "../../api/openapi.yaml"
	if *update {
		if err := os.WriteFile(path, served, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, served) {
		t.Error("api/openapi.yaml differs from the code; look at the change and run: make openapi")
	}
}
