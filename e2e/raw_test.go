package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// rawOrder is an order request, byte for byte, with header lines that an HTTP client might refuse to send.
func (c client) rawOrder(body any, headerLines ...string) []byte {
	return c.rawPost("/v1/orders", body, headerLines...)
}

func (c client) rawPost(path string, body any, headerLines ...string) []byte {
	encoded := encode(body)
	lines := append([]string{
		"POST " + path + " HTTP/1.1", "Host: kuhnya", "Authorization: Bearer " + c.token, "Content-Type: application/json",
		fmt.Sprintf("Content-Length: %d", len(encoded)),
	}, headerLines...)
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n" + string(encoded))
}

// dial connects to the process that takes orders.
func (c client) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.site.kitchen.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// sendRaw sends a request as it is and reads the answer.
func (c client) sendRaw(t testing.TB, request []byte) response {
	t.Helper()
	conn := c.dial(t)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write(request); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{status: answer.StatusCode, header: answer.Header, body: body}
}
