/** Validates the monitor of a job, with the path of every error. */
import { type FieldError, messageOf } from "../../base/errors.ts";
import {
  MONITOR_DEFAULTS,
  MONITOR_LIMITS,
  MONITORED,
  type MonitorOptions,
  NOISE_CLASSES,
  type NoiseClass,
  regexIn,
} from "../../domain/monitor/options.ts";
import { pictureOf, type DocumentRequest } from "../../domain/page/page-options.ts";
import { InputReader } from "../../domain/text/input-reader.ts";
import { compileRegex } from "../../domain/text/regex.ts";
import { compileCss } from "../../extract/select/css.ts";

/** `document`: of the job, or below `crawl`. */
export function readMonitor(
  input: unknown,
  document: DocumentRequest | null,
  problems: FieldError[],
  documentPath: string,
): MonitorOptions | null {
  if (input === undefined || input === null) return null;
  const reader = new InputReader(input, "monitor", problems, 'an object, such as {"what": "text"}');
  const options: MonitorOptions = {
    what: reader.oneOf("what", MONITORED) ?? MONITOR_DEFAULTS.what,
    ignore: [...(reader.texts("ignore") ?? [])],
    noise: (reader.texts("noise") ?? MONITOR_DEFAULTS.noise) as NoiseClass[],
    learn: reader.flag("learn") ?? MONITOR_DEFAULTS.learn,
    watch: [...(reader.texts("watch") ?? [])],
    min_words: reader.number("min_words", { min: 1, max: MONITOR_LIMITS.minWords }) ?? MONITOR_DEFAULTS.min_words,
    min_share: reader.number("min_share", { min: 0, max: 1, whole: false }) ?? null,
    key: reader.text("key", { empty: false, max: 500 }) ?? null,
    keep: reader.number("keep", { min: 1, max: MONITOR_LIMITS.keep }) ?? MONITOR_DEFAULTS.keep,
  };
  reader.rejectUnknownKeys();
  for (const [index, name] of options.noise.entries())
    if (!NOISE_CLASSES.includes(name))
      reader.addError(`noise[${index}]`, `expected one of ${NOISE_CLASSES.join(", ")}`);
  if (options.ignore.length > MONITOR_LIMITS.ignore)
    reader.addError("ignore", `has ${options.ignore.length} patterns, at most ${MONITOR_LIMITS.ignore} are allowed`);
  checkWatch(reader, options);
  for (const [index, pattern] of options.ignore.entries()) checkPattern(reader, options, pattern, `ignore[${index}]`);
  if (options.key !== null && options.what !== "fields")
    reader.addError("key", 'identifies records and is only for "what": "fields"');
  if (options.what === "screenshot" && pictureOf(document) === null)
    reader.addError("what", `needs a screenshot of each page: add "screenshot" to ${documentPath}.formats`);
  return options;
}

function checkWatch(reader: InputReader, { what, watch }: MonitorOptions): void {
  if (watch.length === 0) return;
  if (what === "fields" || what === "screenshot")
    reader.addError("watch", `does not apply to ${what}: of them no place is learned by name`);
  if (watch.length > MONITOR_LIMITS.watch)
    reader.addError("watch", `has ${watch.length} places, at most ${MONITOR_LIMITS.watch} are allowed`);
  for (const [index, place] of watch.entries())
    try {
      const source = regexIn(place);
      if (source !== null) compileRegex(source);
      else if (place === "" || place.length > 1000) throw new Error("expected 1 to 1000 characters");
    } catch (error) {
      reader.addError(`watch[${index}]`, messageOf(error));
    }
}

function checkPattern(reader: InputReader, { what }: MonitorOptions, pattern: string, path: string): void {
  if (what === "screenshot") {
    reader.addError(path, "does not apply to screenshots: use min_share, or hide elements with browser actions");
    return;
  }
  try {
    const source = regexIn(pattern);
    if (source !== null) compileRegex(source);
    else if (pattern === "" || pattern.length > 1000) throw new Error("expected 1 to 1000 characters");
    else if (what !== "fields") compileCss(pattern);
  } catch (error) {
    reader.addError(path, messageOf(error));
  }
}
