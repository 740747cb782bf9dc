package e2e

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

func TestUp(t *testing.T) {
	keep(t,
		promise{"prints commands that work as they are: a menu, an order, the board, a wallet", upGreeting},
		promise{"tells whether it lives and is ready", upHealth},
	)
}

// upGreeting is what somebody does who starts the program for the first time.
func upGreeting(t *testing.T) {
	needCurl(t)
	s := soloSite(t)
	var commands []string
	eventually(t, "four commands to try", func() bool {
		commands = commands[:0]
		for line := range strings.Lines(s.kitchen.log.String()) {
			if strings.HasPrefix(line, "curl ") {
				commands = append(commands, line)
			}
		}
		return len(commands) == 4
	})
	if menu := shell[list[dish]](t, commands[0]); len(menu.Items) == 0 {
		t.Error("the menu is empty")
	}
	first, again := shell[order](t, commands[1]), shell[order](t, commands[1])
	if first.Status != "placed" || again.ID != first.ID {
		t.Errorf("ordered %+v, then %+v", first, again)
	}
	eventually(t, "the order on the board", func() bool {
		board := shell[list[ticket]](t, commands[2]).Items
		return len(board) == 1 && board[0].OrderID == first.ID
	})
	if got := shell[wallet](t, commands[3]); got != (wallet{UserID: "alice"}) {
		t.Errorf("wallet %+v, want alice's and nothing in it", got)
	}
}

// shell runs a line as somebody would who pasted it, and reads the JSON that it prints.
func shell[T any](t *testing.T, line string) (printed T) {
	t.Helper()
	out, err := exec.CommandContext(withPatience(t), "sh", "-c", line).Output()
	if err == nil {
		err = json.Unmarshal(out, &printed)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
	return printed
}

func upHealth(t *testing.T) {
	s := brokerSite(t)
	nobody := client{site: s}
	nobody.send(t, "GET", "/healthz", nil).want(t, 200)
	nobody.send(t, "GET", "/readyz", nil).want(t, 200)
	s.broker.stop(t)
	eventually(t, "ready without a broker, and saying so", func() bool {
		answer := nobody.send(t, "GET", "/readyz", nil)
		return answer.status == 200 && strings.Contains(string(answer.body), "unreachable")
	})
	s.broker.restart(t)
}
