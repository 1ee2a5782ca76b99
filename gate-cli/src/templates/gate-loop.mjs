// Runs an agent until gate says that the work is done, or that the loop must stop.
//
//   node gate-loop.mjs PROMPT.md AGENT [ARGS...]     e.g. node gate-loop.mjs PROMPT.md claude -p
//
// Any Node from 20 on runs it, without a compiler. The agent reads its prompt from the
// standard input: PROMPT.md, the completion protocol, and what gate found missing last
// time. MAX_ITERATIONS (100) bounds the loop. If the agent ran into a limit of its
// service, the loop waits until the limit is over, but no more than MAX_WAIT (21600)
// seconds. Exit code: 0 the work is done; otherwise it is not: gate's code (2 or 5 nothing
// decided, 3 tripped, 4 blocked), 127 if gate is missing.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const GOES_ON = 1; // the only code on which a loop goes on

/**
 * Runs a program, and shows its output while it runs if asked to.
 *
 * @param {string[]} command
 * @param {string} input
 * @param {boolean} shows
 * @returns {Promise<{ code: number, output: string }>}
 */
function run(command, input, shows) {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
    /** @type {Buffer[]} */
    const parts = [];
    child.stdout.on("data", (part) => {
      parts.push(part);
      if (shows) process.stdout.write(part);
    });
    child.stdin.on("error", () => {}); // a program may end before it has read all
    child.stdin.end(input);
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(parts).toString() }));
  });
}

/** @param {string} retryAt */
async function waitUntil(retryAt) {
  const limit = Number(process.env.MAX_WAIT ?? 21600);
  for (let waited = 0; waited < limit && Date.now() < Date.parse(retryAt); waited++) {
    if (waited === 0) console.error(`gate-loop: waiting until ${retryAt}`);
    await sleep(1000);
  }
}

/**
 * @param {string} promptFile
 * @param {string[]} agent
 * @returns {Promise<number>} the exit code
 */
async function main(promptFile, agent) {
  const limit = Number(process.env.MAX_ITERATIONS ?? 100);
  let feedback = "";
  let retryAt = "";
  for (let iteration = 0; iteration < limit; iteration++) {
    await waitUntil(retryAt);
    const protocol = await run(["gate", "prompt"], "", false); // with the iteration's token, if settings require one
    if (protocol.code !== 0) return protocol.code;
    const task = readFileSync(promptFile, "utf8");
    const done = await run(agent, `${task}\n${protocol.output}\n${feedback}`, true);
    const check = ["gate", "check", "--json", "--agent-exit-code", String(done.code), "-"];
    const judged = await run(check, done.output, false);
    /** @type {{ verdict?: string, reasons?: { message: string }[], feedback?: string, retry_at?: string }} */
    const decision = JSON.parse(judged.output || "{}");
    if (judged.code !== GOES_ON) {
      for (const reason of decision.reasons ?? []) {
        console.error(`gate-loop: ${decision.verdict}: ${reason.message}`);
      }
      return judged.code;
    }
    feedback = decision.feedback ?? "";
    retryAt = decision.retry_at ?? "";
  }
  console.error(`gate-loop: STOP, not done: ${limit} iterations`);
  return 3;
}

const [promptFile, ...agent] = process.argv.slice(2);
if (agent.length === 0 || !existsSync(promptFile)) {
  console.error("usage: gate-loop.mjs PROMPT.md AGENT [ARGS...]");
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await main(promptFile, agent);
  } catch (failed) {
    console.error(`gate-loop: STOP, not done: ${failed instanceof Error ? failed.message : failed}`);
    process.exitCode = 127;
  }
}
