// gate for OpenCode: when a session goes idle, gate is asked whether the work is done. Where it is
// not, the session goes on with what is missing. Before its first message is answered, gate looks at
// what the tree is. Written by `gate install opencode`.
//
// Its limits:
// - It holds sessions of the TUI and of `opencode serve`. `opencode run` exits at the first idle
//   moment, before a session can go on: there, call `gate check` from the loop that runs it, and go
//   on with `opencode run -s SESSION "what is missing"`.
// - After an error (session.error) nothing is asked: there is no finished work to look at.
// - Sessions of sub-agents are not held; their parent is.
// - Where gate is missing or fails, the session stays idle, and OpenCode's log says why.
import { spawn } from "node:child_process"

const COMMAND = "gate hook opencode"

// Longer than gate gives itself, in milliseconds: at a stop, and where a session begins.
const PATIENCE = 600_000
const PATIENCE_OF_START = 30_000

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

// What is missing, where the reply is a block.
const missing = ({ code, out, err }) => {
  if (code !== 0) throw new Error(`gate ended with ${code}: ${err.trim()}`)
  if (out.trim() === "") return undefined
  const reply = JSON.parse(out)
  return reply.decision === "block" ? reply.reason : undefined
}

export const GatePlugin = async ({ client, directory }) => {
  const failed = new Set()
  const asked = new Set()
  const begun = new Set()

  const tell = (level, message) =>
    client.app.log({ body: { service: "gate", level, message } }).catch(() => {})

  const lastWord = async (id) => {
    const messages = (await client.session.messages({ path: { id } })).data ?? []
    const last = messages.findLast((message) => message.info.role === "assistant")
    const texts = (last?.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
    return texts.map((part) => part.text).join("\n")
  }

  const isSubAgent = async (id) =>
    Boolean((await client.session.get({ path: { id } })).data?.parentID)

  const ask = async (id) => {
    if (await isSubAgent(id)) return
    const event = {
      hook_event_name: "session.idle",
      session_id: id,
      cwd: directory,
      last_assistant_message: await lastWord(id),
      client: "opencode",
    }
    const answer = await run(event, directory, PATIENCE)
    const reason = missing(answer)
    if (answer.err.trim()) await tell("warn", answer.err.trim())
    if (!reason) return
    const parts = [{ type: "text", text: reason }]
    await client.session.promptAsync({ path: { id }, body: { parts } })
  }

  // OpenCode waits for this before the message is answered.
  const begin = async (id) => {
    if (await isSubAgent(id)) return
    const event = {
      hook_event_name: "chat.message",
      session_id: id,
      cwd: directory,
      client: "opencode",
    }
    const { code, err } = await run(event, directory, PATIENCE_OF_START)
    if (code !== 0) throw new Error(`gate ended with ${code}: ${err.trim()}`)
    if (err.trim()) await tell("warn", err.trim())
  }

  return {
    "chat.message": async ({ sessionID: id }) => {
      if (!id || begun.has(id)) return
      begun.add(id)
      await begin(id).catch((error) => tell("error", String(error?.message ?? error)))
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID
      if (!id) return
      if (event.type === "session.error") failed.add(id)
      if (event.type !== "session.idle") return
      if (failed.delete(id) || asked.has(id)) return
      asked.add(id)
      try {
        await ask(id)
      } catch (error) {
        await tell("error", String(error?.message ?? error))
      } finally {
        asked.delete(id)
      }
    },
  }
}
