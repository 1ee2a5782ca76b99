// Writes the events of a test run, one JSON object a line.
import { inspect } from 'node:util';

const told = ['enqueue', 'start', 'pass', 'fail', 'diagnostic'].map((event) => `test:${event}`);
const longest = 16_000;

// The error with its stack, and with its values if the test gave a message of its own.
function text(error) {
  if (error === undefined) return undefined;
  const cause = error.cause ?? error;
  if (typeof cause !== 'object') return String(cause);
  const { stack = '', message = '' } = cause;
  const whole = stack.includes(message) ? stack : `${message}\n${stack}`;
  const values = cause.generatedMessage === false && 'expected' in cause
    ? `expected: ${inspect(cause.expected)}\nreceived: ${inspect(cause.actual)}\n` : '';
  return (values + whole || inspect(cause)).slice(0, longest);
}

export default async function* events(source) {
  const errors = new Map();
  for await (const { type, data } of source) {
    if (type === 'test:stderr') {
      const before = errors.get(data.file) ?? '';
      if (before.length < longest) errors.set(data.file, before + data.message);
    }
    if (!told.includes(type)) continue;
    const failed = type === 'test:fail';
    yield JSON.stringify({
      type: type.slice('test:'.length),
      name: data.name,
      nesting: data.nesting,
      file: data.file,
      line: data.line,
      excused: data.skip !== undefined && data.skip !== false || data.todo !== undefined && data.todo !== false,
      suite: data.details?.type === 'suite',
      failure: data.details?.error?.failureType,
      text: failed ? text(data.details?.error) : undefined,
      stderr: failed ? errors.get(data.file) : undefined,
      message: data.message,
    }) + '\n';
  }
}
