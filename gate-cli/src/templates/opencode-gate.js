// gate for OpenCode: when a session goes idle, gate is asked whether the work is done. Where it is
// not, the session goes on with what is missing. Before a message of the person is answered, gate
// looks at what the tree is. Written by `gate install opencode`.
//
// Its limits:
// - It holds sessions of the TUI and of `opencode serve`. `opencode run` exits at the first idle
//   moment, before a session can go on: there, call `gate check` from the loop that runs it, and go
//   on with `opencode run -s SESSION "what is missing"`.
// - After an error (session.error), such as an interruption by the person, nothing is asked until the
//   person's next message: there is no finished work to look at. A context that was too long is
//   compacted, and the turn goes on.
// - Sessions of sub-agents are not held; their parent is.
// - Where gate is missing, fails, or lets go of work that is not done, the session stays idle. A toast
//   says so, and OpenCode's log.
import { spawn } from "node:child_process"

const COMMAND = "gate hook opencode"

// Longer than gate gives itself, in milliseconds: at a stop, and at a prompt.
const PATIENCE = 600_000
const PATIENCE_OF_PROMPT = 30_000

// How long a toast stays, in milliseconds.
const TOAST = 15_000

// Runs the command with this input. Resolves with its exit code and what it printed.
const run = (input, cwd, timeout) =>
  new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", COMMAND], { cwd, timeout })
    const said = { out: "", err: "" }
    child.stdout.setEncoding("utf8").on("data", (text) => (said.out += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (said.err += text))
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, ...said }))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(input))
  })

// What gate replied: an empty object where it printed nothing.
const reply = ({ code, out, err }) => {
  if (code !== 0) throw new Error(`gate ended with ${code}: ${err.trim()}`)
  return out.trim() === "" ? {} : JSON.parse(out)
}

// True for an error that ends a turn. After this one OpenCode compacts the session and goes on.
const isEnd = (error) => error !== undefined && error.name !== "ContextOverflowError"

const words = (parts) =>
  parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\n")

export const GatePlugin = async ({ client, directory }) => {
  // Sessions whose turn was broken off. It stays so, whatever idle events follow.
  const failed = new Set()
  const asked = new Set()
  // By session: the person's latest message, and what gate itself sent last.
  const prompts = new Map()
  const sent = new Map()

  const log = (level, message) =>
    client.app.log({ body: { service: "gate", level, message } }).catch(() => {})

  // Without a terminal there is nobody to show it to.
  const toast = async (variant, message) => {
    const body = { title: "gate", message, variant, duration: TOAST }
    await client.tui?.showToast({ body }).catch(() => {})
  }

  const fail = async (error) => {
    const message = String(error?.message ?? error)
    await log("error", message)
    await toast("error", message)
  }

  // Calls gate, shows the person what gate has to say, and returns the reply.
  const call = async (event, timeout) => {
    const answer = await run({ ...event, cwd: directory, client: "opencode" }, directory, timeout)
    const replied = reply(answer)
    const message = replied.systemMessage
    if (answer.err.trim() || message) await log("warn", answer.err.trim() || message)
    if (message) await toast("warning", message)
    return replied
  }

  const lastMessage = async (id) => {
    const messages = (await client.session.messages({ path: { id } })).data ?? []
    return messages.findLast((message) => message.info.role === "assistant")
  }

  const isSubAgent = async (id) =>
    Boolean((await client.session.get({ path: { id } })).data?.parentID)

  const stop = async (id) => {
    if (await isSubAgent(id)) return
    const last = await lastMessage(id)
    // The message has its error before anybody is told.
    if (isEnd(last?.info.error)) failed.add(id)
    if (failed.has(id)) return
    const event = {
      hook_event_name: "session.idle",
      session_id: id,
      prompt_id: prompts.get(id),
      last_assistant_message: words(last?.parts ?? []),
    }
    const { decision, reason } = await call(event, PATIENCE)
    if (decision !== "block" || !reason) return
    // It was broken off while gate looked.
    if (failed.has(id)) return
    sent.set(id, reason)
    const parts = [{ type: "text", text: reason }]
    await client.session.promptAsync({ path: { id }, body: { parts } })
  }

  // OpenCode waits for this before the message is answered.
  const prompt = async (id, message, parts) => {
    const text = words(parts)
    if (sent.get(id) === text) return
    failed.delete(id)
    if (await isSubAgent(id)) return
    prompts.set(id, message.id)
    const event = {
      hook_event_name: "chat.message",
      session_id: id,
      prompt_id: message.id,
      prompt: text,
    }
    await call(event, PATIENCE_OF_PROMPT)
  }

  return {
    "chat.message": async ({ sessionID: id }, { message, parts }) => {
      if (id) await prompt(id, message, parts).catch(fail)
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID
      if (!id) return
      const error = event.properties.error ?? { name: "" }
      if (event.type === "session.error" && isEnd(error)) failed.add(id)
      if (event.type !== "session.idle") return
      if (failed.has(id) || asked.has(id)) return
      asked.add(id)
      await stop(id).catch(fail)
      asked.delete(id)
    },
  }
}
