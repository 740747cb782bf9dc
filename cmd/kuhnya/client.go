package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"kuhnya/internal/auth"
	"kuhnya/internal/opsclient"
)

// clientTokenLife is how long the token of a command is valid: longer than any of them runs.
const clientTokenLife = 12 * time.Hour

// clientFlags are common to commands that ask running processes.
type clientFlags struct {
	URL   []string `name:"url" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Where processes run; several, with commas or repeated, if services run apart (${default})."`
	Token string   `placeholder:"TOKEN" help:"Bearer token of an operator; the default is signed with the key in --data."`
}

// client makes a client that asks as an operator.
func (f clientFlags) client(data string) (_ *opsclient.Client, err error) {
	token := f.Token
	if token == "" {
		if token, err = operatorToken(data); err != nil {
			return nil, err
		}
	}
	client, err := opsclient.New(f.URL, token)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	return client, nil
}

// operatorToken is an operator's token for the processes of a data folder. A folder without a key is not given one:
// no process would take what is signed with it.
func operatorToken(data string) (string, error) {
	key, err := auth.LoadKey(data)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no signing key in %s; is --data right? elsewhere --token is needed", data)
	}
	if err != nil {
		return "", err
	}
	return auth.NewIssuer(key).Issue(auth.Identity{Subject: "cli", Role: auth.Operator}, clientTokenLife)
}
