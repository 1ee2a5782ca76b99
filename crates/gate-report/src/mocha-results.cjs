"use strict";
// A reporter for mocha, which loads it before the tests. It prints what mocha's own does for people,
// and writes the results into its folder. An empty file stands for a run that has not ended.
const fs = require("fs");
const path = require("path");
const util = require("util");

const isSpec = (name) => /[\\/]mocha[\\/]lib[\\/]reporters[\\/]spec\.js$/.test(name);
const spec = Object.keys(require.cache).find(isSpec);
const Base = spec ? require(spec) : class {};

const file = path.join(__dirname, `mocha-${process.pid}-${Date.now()}.json`);
fs.writeFileSync(file, "");

// Runs that the tests start are no part of this one.
if (process.env.MOCHA_OPTIONS) {
  process.env.MOCHA_OPTIONS = process.env.MOCHA_OPTIONS.replace(`--reporter="${__filename}"`, "");
}

const text = (value) => {
  if (value === undefined || typeof value === "string") return value;
  try {
    return util.inspect(value, { depth: 5 });
  } catch {
    return undefined;
  }
};

const result = (test, error) => ({
  title: test.title,
  fullTitle: test.fullTitle(),
  titlePath: typeof test.titlePath === "function" ? test.titlePath() : undefined,
  file: test.file || (test.parent && test.parent.file),
  currentRetry: typeof test.currentRetry === "function" ? test.currentRetry() : 0,
  err: error && {
    message: text(error.message === undefined ? error : error.message),
    stack: text(error.stack),
    generatedMessage: error.generatedMessage === true,
    expected: "expected" in Object(error) ? text(error.expected) : undefined,
    actual: "actual" in Object(error) ? text(error.actual) : undefined,
  },
});

module.exports = class extends Base {
  constructor(runner, options) {
    super(runner, options);
    const results = { passes: [], failures: [], pending: [] };
    runner.on("pass", (test) => results.passes.push(result(test)));
    runner.on("fail", (test, error) => results.failures.push(result(test, error || test.err)));
    runner.on("pending", (test) => results.pending.push(result(test)));
    runner.once("end", () => {
      results.stats = runner.stats || this.stats;
      fs.writeFileSync(file, JSON.stringify(results));
    });
  }
};
