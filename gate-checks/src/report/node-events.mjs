// Writes the events of a test run, one JSON object a line.
const told = ['enqueue', 'start', 'pass', 'fail', 'diagnostic'].map((event) => `test:${event}`);

export default async function* events(source) {
  for await (const { type, data } of source) {
    if (!told.includes(type)) continue;
    yield JSON.stringify({
      type: type.slice('test:'.length),
      name: data.name,
      nesting: data.nesting,
      file: data.file,
      excused: data.skip !== undefined && data.skip !== false || data.todo !== undefined && data.todo !== false,
      suite: data.details?.type === 'suite',
      failure: data.details?.error?.failureType,
      message: data.message,
    }) + '\n';
  }
}
