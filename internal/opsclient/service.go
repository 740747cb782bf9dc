package opsclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/go-json-experiment/json"

	"kuhnya/internal/fault"
	"kuhnya/internal/httpapi"
	"kuhnya/internal/ops"
	"kuhnya/internal/ops/opshttp"
)

const pageSize = "200" // the most that the API gives

// Service is a service that a process runs.
type Service struct {
	Name   string
	client *Client
	url    string // of everything that belongs to it
}

// Find looks for the process that runs each of the named services, the first one of several. Absent are the services
// that none of the URLs runs.
func (c *Client) Find(ctx context.Context, names ...string) (found []Service, absent []string, err error) {
	for _, name := range names {
		s, runs, err := c.find(ctx, name)
		switch {
		case err != nil:
			return nil, nil, err
		case runs:
			found = append(found, s)
		default:
			absent = append(absent, name)
		}
	}
	return found, absent, nil
}

func (c *Client) find(ctx context.Context, name string) (s Service, runs bool, err error) {
	for _, url := range c.urls {
		s := Service{name, c, url + "/v1/" + name}
		_, err := s.page(ctx, ops.Open, "", "1")
		if err == nil {
			return s, true, nil
		}
		if code := CodeOf(err); code != "" && code != fault.NotFound {
			err = fmt.Errorf("%s answers %w", url, err)
		}
		if CodeOf(err) != fault.NotFound {
			return Service{}, false, err
		}
	}
	return Service{}, false, nil
}

// CodeOf is the code of the problem that err is, or "".
func CodeOf(err error) fault.Code {
	var refused *Refusal
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// Overview asks how the service is doing.
func (s Service) Overview(ctx context.Context) (opshttp.Overview, error) {
	return call[opshttp.Overview](ctx, s.client, http.MethodGet, s.url+"/overview", nil)
}

// DeadLetters reads all dead letters in a state by their ids; an empty state selects all.
func (s Service) DeadLetters(ctx context.Context, state ops.State) (all []opshttp.DeadLetter, err error) {
	for cursor := ""; ; {
		page, err := s.page(ctx, state, cursor, pageSize)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if cursor = page.NextCursor; cursor == "" {
			return all, nil
		}
	}
}

func (s Service) page(ctx context.Context, state ops.State, cursor, limit string) (httpapi.List[opshttp.DeadLetter], error) {
	query := url.Values{"limit": {limit}}
	if state != "" {
		query.Set("state", string(state))
	}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return call[httpapi.List[opshttp.DeadLetter]](ctx, s.client, http.MethodGet, s.url+"/dead-letters?"+query.Encode(), nil)
}

// DeadLetter reads one dead letter with all of its record.
func (s Service) DeadLetter(ctx context.Context, id httpapi.ID) (opshttp.WholeDeadLetter, error) {
	return call[opshttp.WholeDeadLetter](ctx, s.client, http.MethodGet, s.letter(id), nil)
}

// Redrive sends the record of a dead letter to its topic again.
func (s Service) Redrive(ctx context.Context, id httpapi.ID) (opshttp.DeadLetter, error) {
	return call[opshttp.DeadLetter](ctx, s.client, http.MethodPost, s.letter(id)+"/redrive", nil)
}

// Discard gives a dead letter up.
func (s Service) Discard(ctx context.Context, id httpapi.ID, reason string) (opshttp.DeadLetter, error) {
	body, err := json.Marshal(map[string]string{"reason": reason})
	if err != nil {
		return opshttp.DeadLetter{}, fmt.Errorf("reason: %w", err) // not UTF-8
	}
	return call[opshttp.DeadLetter](ctx, s.client, http.MethodPost, s.letter(id)+"/discard", body)
}

func (s Service) letter(id httpapi.ID) string { return s.url + "/dead-letters/" + id.String() }
