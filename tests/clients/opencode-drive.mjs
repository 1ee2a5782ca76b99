// Runs one prompt through `opencode serve`, up to its end: node opencode-drive.mjs OPENCODE PROMPT.
// The session is at its end where it is idle, and the server has no child that may wake it, as often
// as is asked below. Each look is a question to the server, so a slow machine looks more slowly.
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"

const [program, prompt] = process.argv.slice(2)
const LOOKS = 20
const PAUSE = 100

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time))

const server = spawn(program, ["serve", "--hostname", "127.0.0.1", "--port", "0"])
const url = await new Promise((resolve, reject) => {
  let text = ""
  const read = (more) => {
    text += more
    const found = text.match(/listening on (http:\/\/\S+)/)
    if (found) resolve(found[1])
  }
  server.stdout.setEncoding("utf8").on("data", read)
  server.stderr.setEncoding("utf8").on("data", read)
  server.on("close", () => reject(new Error(`the server ended: ${text}`)))
})

const ask = async (path, body) => {
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  const response = await fetch(url + path, body ? post : {})
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return text === "" ? undefined : JSON.parse(text)
}

const hasChild = () =>
  readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim() !== ""

const { id } = await ask("/session", {})
await ask(`/session/${id}/prompt_async`, { parts: [{ type: "text", text: prompt }] })
let begun = false
for (let quiet = 0; quiet < LOOKS; ) {
  await sleep(PAUSE)
  const isIdle = !(await ask("/session/status"))[id]
  begun ||= (await ask(`/session/${id}/message`)).some(({ info }) => info.role === "assistant")
  quiet = begun && isIdle && !hasChild() ? quiet + 1 : 0
}
console.log(JSON.stringify(await ask(`/session/${id}/message`)))
server.removeAllListeners("close")
server.kill()
process.exit(0)
