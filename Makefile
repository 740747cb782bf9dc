.DEFAULT_GOAL := help
GO ?= go
VERSION ?= $(shell git describe --always --dirty 2>/dev/null || echo dev)

.PHONY: help build run test test-race check lint format openapi bench clean

help: ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build ./kuhnya
	$(GO) build -ldflags "-X main.version=$(VERSION)" -o kuhnya ./cmd/kuhnya

run: build ## Build and start everything with demo data on http://127.0.0.1:8080
	./kuhnya up

test: ## Run the whole suite; needs nothing but Go
	$(GO) test ./...

test-race: ## Run the whole suite under the race detector
	$(GO) test -race ./...

lint: ## Check formatting, vet and staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted:" $$unformatted; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

check: lint test-race test ## What CI runs

format: ## Format the code
	gofmt -w $$(git ls-files '*.go')

openapi: ## Write api/openapi.yaml from the code
	$(GO) test ./internal/app -run TestOpenAPI -update

bench: ## Measure: group commit against one transaction per request, and order to ticket
	$(GO) test ./internal/kitchen/kitchensql ./e2e -run '^$$' -bench . -benchtime 3s

clean: ## Remove what was built, not your data
	rm -f kuhnya
