//go:build ignore

// Runs an agent until gate says that the work is done, or that the loop must stop.
//
//	go build gate-loop.go && ./gate-loop PROMPT.md AGENT [ARGS...]     e.g. claude -p
//
// The agent reads its prompt from the standard input: PROMPT.md, the completion protocol,
// and what gate found missing last time. MAX_ITERATIONS (100) bounds the loop. If the agent
// ran into a limit of its service, the loop waits until the limit is over, but no more than
// MAX_WAIT (21600) seconds. Exit code: 0 the work is done; otherwise it is not: gate's code
// (2 or 5 nothing decided, 3 tripped, 4 blocked), 127 if gate is missing.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// The only code on which a loop goes on.
const goesOn = 1

type decision struct {
	Verdict string
	Reasons []struct{ Message string }
	// For the agent's next turn.
	Feedback string
	// When a limit of the agent's service is over.
	RetryAt *time.Time `json:"retry_at"`
}

// Runs a program, and shows its output while it runs if asked to.
func run(command []string, input string, shows bool) (int, []byte, error) {
	var output bytes.Buffer
	program := exec.Command(command[0], command[1:]...)
	program.Stdin = strings.NewReader(input)
	program.Stdout = &output
	program.Stderr = os.Stderr
	if shows {
		program.Stdout = io.MultiWriter(os.Stdout, &output)
	}
	err := program.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return 127, nil, err
	}
	code := program.ProcessState.ExitCode()
	if code < 0 { // a signal ended it
		code = 1
	}
	return code, output.Bytes(), nil
}

func setting(name string, usual int) int {
	if number, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return number
	}
	return usual
}

func waitUntil(retryAt *time.Time) {
	if retryAt == nil {
		return
	}
	wait := time.Until(*retryAt)
	if most := time.Duration(setting("MAX_WAIT", 21600)) * time.Second; wait > most {
		wait = most
	}
	if wait > 0 {
		fmt.Fprintf(os.Stderr, "gate-loop: waiting until %s\n", retryAt.Format(time.RFC3339))
		time.Sleep(wait)
	}
}

func loop(promptFile string, agent []string) (int, error) {
	limit := setting("MAX_ITERATIONS", 100)
	var last decision
	for iteration := 0; iteration < limit; iteration++ {
		waitUntil(last.RetryAt)
		// With the iteration's token, if settings require one.
		code, protocol, err := run([]string{"gate", "prompt"}, "", false)
		if code != 0 {
			return code, err
		}
		task, err := os.ReadFile(promptFile)
		if err != nil {
			return 2, err
		}
		prompt := fmt.Sprintf("%s\n%s\n%s", task, protocol, last.Feedback)
		ended, output, err := run(agent, prompt, true)
		if err != nil {
			return 127, err
		}
		check := []string{"gate", "check", "--json", "--agent-exit-code", strconv.Itoa(ended), "-"}
		code, judged, err := run(check, string(output), false)
		if err != nil {
			return 127, err
		}
		last = decision{}
		if len(judged) > 0 {
			if err := json.Unmarshal(judged, &last); err != nil {
				return 5, err
			}
		}
		if code != goesOn {
			for _, reason := range last.Reasons {
				fmt.Fprintf(os.Stderr, "gate-loop: %s: %s\n", last.Verdict, reason.Message)
			}
			return code, nil
		}
	}
	return 3, fmt.Errorf("%d iterations", limit)
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: gate-loop PROMPT.md AGENT [ARGS...]")
		os.Exit(2)
	}
	code, err := loop(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "gate-loop: STOP, not done: %s\n", err)
	}
	os.Exit(code)
}
