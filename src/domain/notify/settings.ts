/** Checks the settings of a channel against the declaration of its kind. */
import type { ChannelKind, Field, Settings, SettingValue } from "./channel-kind.ts";

interface Problem {
  path: string;
  message: string;
}

/** The settings with defaults; or every problem. Null and an empty text are the same as absent. */
export function readSettings(
  kind: ChannelKind,
  input: Readonly<Record<string, unknown>>,
): { settings: Settings } | { problems: Problem[] } {
  const problems: Problem[] = [];
  const settings: Record<string, SettingValue> = {};
  const known = Object.keys(kind.fields);
  for (const name of Object.keys(input))
    if (!known.includes(name))
      problems.push({ path: name, message: `is not a setting of ${kind.kind}; it has ${known.join(", ")}` });
  for (const [name, field] of Object.entries(kind.fields)) {
    const given = Object.hasOwn(input, name) ? input[name] : undefined;
    const read = readField(field, given ?? null);
    if ("message" in read) problems.push({ path: name, message: read.message });
    else if (read.value !== null) settings[name] = read.value;
  }
  const wrong = problems.length === 0 ? (kind.check?.(settings) ?? null) : null;
  if (wrong !== null) problems.push(wrong);
  return problems.length > 0 ? { problems } : { settings };
}

type Read = { value: SettingValue | null } | { message: string };

function readField(field: Field, given: unknown): Read {
  const isEmpty = given === null || given === "" || (Array.isArray(given) && given.length === 0);
  if (isEmpty) {
    if (field.required === true) return { message: `is required: ${field.about}` };
    return { value: "default" in field ? field.default : null };
  }
  switch (field.type) {
    case "text":
      return readText(field, given);
    case "url":
      return readUrl(given);
    case "integer":
      return Number.isInteger(given) && (given as number) >= field.minimum && (given as number) <= field.maximum
        ? { value: given as number }
        : { message: `expected a whole number from ${field.minimum} to ${field.maximum}` };
    case "choice":
      return typeof given === "string" && field.choices.includes(given)
        ? { value: given }
        : { message: `expected one of ${field.choices.join(", ")}` };
    case "list": {
      const expected = field.expected ?? "a list of texts";
      if (!Array.isArray(given) || given.some((one) => typeof one !== "string" || one.length > 320))
        return { message: `expected a list of ${expected}` };
      if (given.length > field.most) return { message: `has more than ${field.most} entries` };
      const bad = field.pattern === undefined ? -1 : given.findIndex((one: string) => !field.pattern!.test(one));
      return bad < 0 ? { value: given as string[] } : { message: `entry ${bad + 1}: expected ${expected}` };
    }
  }
}

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

function readText(field: Extract<Field, { type: "text" }>, given: unknown): Read {
  if (typeof given !== "string") return { message: "expected a text" };
  const { maxLength: most = 1000, pattern, expected } = field;
  if (given.length > most) return { message: `is longer than ${most} characters` };
  if (CONTROL.test(given)) return { message: "must not contain line breaks or control characters" };
  if (pattern !== undefined && !pattern.test(given)) return { message: `expected ${expected ?? "another form"}` };
  return { value: given };
}

function readUrl(given: unknown): Read {
  const url = typeof given === "string" && given.length <= 4000 ? URL.parse(given) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return { message: "expected an http or https URL" };
  if (url.username !== "" || url.password !== "")
    return { message: "must not contain a user name or password: it would be shown" };
  return { value: url.href };
}

/** The part that is shown, and the part that is sealed. */
export function splitSettings(kind: ChannelKind, settings: Settings): { shown: Settings; secret: Settings } {
  const isSecret = (name: string) => kind.fields[name]?.secret === true;
  const pick = (secret: boolean) =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => isSecret(name) === secret));
  return { shown: pick(false), secret: pick(true) };
}

/** Secrets of channels are sealed for this purpose. */
export const SEALED_FOR_CHANNEL = "notification channel";
