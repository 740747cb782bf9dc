// Package opsclient is what internal/ops/opshttp offers, seen from the other side: commands ask running processes with it.
//
// Every call is safe to repeat, so one that fails in passing (503, a connection that breaks) is tried again a few times.
// A change that was begun is seen through although its caller gives up, so that its caller can say whether it was made.
//
// What this package does not do: it starts nothing, keeps nothing, and decides nothing but the order in which dead letters
// are to be sent again.
package opsclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-json-experiment/json"
)

const (
	tryTimeout = 30 * time.Second
	maxTries   = 5
	firstPause = 200 * time.Millisecond
	maxPause   = 2 * time.Second
)

// ErrNoAnswer says that a process could not be reached, or broke the connection again and again.
var ErrNoAnswer = errors.New("no answer")

// Client asks processes by their URLs, as the bearer of an operator's token. It may be used by many at once.
type Client struct {
	urls  []string
	token string
	http  *http.Client
	pause time.Duration // before the second try; it grows from there
}

// New returns a client of the processes at some URLs: http or https, a host, and nothing that follows.
func New(urls []string, token string) (*Client, error) {
	c := &Client{token: token, pause: firstPause, http: &http.Client{
		Timeout:       tryTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for _, raw := range urls {
		u, err := url.Parse(strings.TrimSuffix(raw, "/"))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path+u.RawQuery+u.Fragment != "" || u.User != nil {
			return nil, fmt.Errorf("%q is not the URL of a process, as http://127.0.0.1:8080 is", raw)
		}
		c.urls = append(c.urls, u.String())
	}
	return c, nil
}

// call sends a request, with a body unless that is nil, until it is answered for good, and reads the answer.
func call[T any](ctx context.Context, c *Client, method, url string, body []byte) (read T, err error) {
	tries := &backoff.ExponentialBackOff{InitialInterval: c.pause, Multiplier: 2, MaxInterval: maxPause, RandomizationFactor: 0.5}
	answer, err := backoff.Retry(ctx, func() ([]byte, error) {
		answer, err := c.try(ctx, method, url, body)
		if err != nil && !passing(err) {
			err = backoff.Permanent(err)
		}
		return answer, err
	}, backoff.WithBackOff(tries), backoff.WithMaxTries(maxTries))
	if err != nil {
		return read, err
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		return read, fmt.Errorf("answer of %s is not understood: %w", url, err)
	}
	return read, nil
}

func (c *Client) try(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	if method != http.MethodGet {
		ctx = context.WithoutCancel(ctx)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, noAnswer(request, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, noAnswer(request, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, refusal(request, response, answer)
	}
	return answer, nil
}

// noAnswer names the process, and not the whole request.
func noAnswer(r *http.Request, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("%w from %s://%s: %w", ErrNoAnswer, r.URL.Scheme, r.URL.Host, err)
}

// passing says whether a call may succeed if it is tried again. What could not even connect is told at once: mostly
// nobody is there.
func passing(err error) bool {
	var op *net.OpError
	if errors.Is(err, ErrNoAnswer) {
		return !errors.Is(err, context.Canceled) && !(errors.As(err, &op) && op.Op == "dial")
	}
	var refused *Refusal
	return errors.As(err, &refused) && refused.Retryable
}
