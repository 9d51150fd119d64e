// Generates src/api-client/operations.ts from the OpenAPI description, so that client and dashboard cannot use fields
// that do not exist. `--check` fails if it is stale.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isNewEnough } from "../bin/handover.mjs";
import { describeApi } from "./api-description.mjs";
import { ensureInstalled, node24, root, run, script } from "./bootstrap.mjs";

const FILE = "src/api-client/operations.ts";
const KEY = "idempotency-key";
/** The type of arbitrary JSON: `unknown` in inputs, JSON in outputs. */
let anything = "unknown";

await script(async (args) => {
  await ensureInstalled();
  // Importing the API needs a Node that runs TypeScript.
  if (!isNewEnough(process.versions.node)) return run(node24(), process.argv.slice(1));
  const text = typesOf(await describeApi());
  const path = join(root, FILE);
  const current = readIfThere(path);
  if (args.includes("--check")) {
    if (current !== text) process.stderr.write(`${FILE} is stale: run node scripts/api-types.mjs\n`);
    return current === text ? 0 : 1;
  }
  if (current !== text) writeFileSync(path, text);
  return 0;
});

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function typesOf(description) {
  const operations = Object.entries(description.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
    )
    .filter(({ operationId }) => operationId !== undefined)
    .sort((a, b) => (a.operationId < b.operationId ? -1 : 1));
  const names = new Map();
  const schemas = Object.entries(description.components?.schemas ?? {}).map(
    ([name, schema]) => `export type ${titled(name)} = ${asAnswer(() => typeOf(schema, ""))};\n`,
  );
  // The response of `getX` is named X, also where other operations return it; the shortest name wins.
  const best = (a, b) =>
    Number(a.deprecated ?? false) - Number(b.deprecated ?? false) || a.operationId.length - b.operationId.length;
  const named = operations.toSorted(best).flatMap(({ operationId, responses, deprecated }) => {
    const match = /^get([A-Z]\w*)$/.exec(operationId);
    const schema = answerOf(responses);
    if (match === null || schema?.type !== "object" || schema.properties === undefined) return [];
    const text = asAnswer(() => typeOf(schema, ""));
    const same = names.get(text);
    if (same !== undefined)
      return deprecated === true ? [`/** @deprecated Alias of ${same}. */\nexport type ${match[1]} = ${same};\n`] : [];
    names.set(text, match[1]);
    return [`export type ${match[1]} = ${text};\n`];
  });
  const shown = (schema, indent) => {
    if (schema === undefined) return "null";
    if (schema.type === "array" && schema.items !== undefined) return arrayOf(shown(schema.items, indent));
    return names.get(typeOf(schema, "")) ?? typeOf(schema, indent);
  };
  const entries = operations.map(
    ({ method, path, summary, deprecated, description: about, parameters = [], requestBody, responses }) => {
      const body = requestBody?.content?.["application/json"]?.schema;
      // Text is sent verbatim.
      const orText = requestBody?.content?.["application/yaml"] === undefined ? "" : " | string";
      return [
        `  /** ${commented(deprecated === true ? `@deprecated ${about}` : (summary ?? ""))} */`,
        `  "${method} ${path}": {`,
        `    params: ${group(parameters, "path")};`,
        `    query: ${group(parameters, "query")};`,
        `    body: ${body === undefined ? "undefined" : shown(body, "    ") + orText};`,
        `    answer: ${asAnswer(() => shown(answerOf(responses), "    "))};`,
        "  };",
      ].join("\n");
    },
  );
  const routes = operations.map(({ operationId, method, path }) => `  ${operationId}: "${method} ${path}",`);
  const has = (place, name) => (operation) =>
    (operation.parameters ?? []).some((one) => one.in === place && (name === undefined || one.name === name));
  const setOf = (name, about, isIn) => {
    const members = operations.filter(isIn).map(({ method, path }) => `  "${method} ${path}",`);
    const set = `new Set<keyof Operations>([\n${members.join("\n")}\n])`;
    return `/** ${about} */\nexport const ${name}: ReadonlySet<string> = ${set};\n`;
  };
  return [
    "// Made from the API's description by `node scripts/api-types.mjs`; do not edit.\n",
    "export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };\n",
    ...schemas,
    ...named,
    `/** Every operation by its method and address: what it takes and what it answers. */\nexport interface Operations {\n${entries.join("\n")}\n}\n`,
    `/** By the names that the description gives them. */\nexport const ROUTES = {\n${routes.join("\n")}\n} as const satisfies Record<string, keyof Operations>;\n`,
    setOf("BODIES", "They take a body.", ({ requestBody }) => requestBody !== undefined),
    setOf("QUERIES", "They take a query.", has("query")),
    setOf("PAGED", "They answer a page of a list.", has("query", "cursor")),
    setOf("REPEATABLE", `Done once however often they are sent with the same ${KEY}.`, has("header", KEY)),
    setOf("OPERATOR", "They need the role operator.", (operation) => operation["x-orb-role"] === "operator"),
    setOf("ADMIN", "They need the role admin.", (operation) => operation["x-orb-role"] === "admin"),
    setOf("UNLIMITED", "Not for keys with limits.", (operation) => operation["x-orb-limited"] === false),
    setOf("TEXTS", "What they answer is never JSON.", ({ responses }) => answerOf(responses)?.type === "string"),
  ].join("\n");
}

function commented(text) {
  return text.replaceAll("*/", "* /");
}

function titled(name) {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

function asAnswer(work) {
  anything = "Json";
  try {
    return work();
  } finally {
    anything = "unknown";
  }
}

/** The JSON of the first success response. */
function answerOf(responses) {
  const good = Object.keys(responses).filter((status) => status.startsWith("2"));
  for (const status of good) {
    const schema = responses[status].content?.["application/json"]?.schema;
    if (schema !== undefined) return schema;
  }
  return good.some((status) => responses[status].content !== undefined) ? { type: "string" } : undefined;
}

function group(parameters, place) {
  const those = parameters.filter((parameter) => parameter.in === place);
  if (those.length === 0) return "undefined";
  const lines = those.map(({ name, required, schema }) => {
    // Callers may omit values with a default.
    const optional = required !== true || schema.default !== undefined;
    return `      ${key(name)}${optional ? "?" : ""}: ${typeOf(schema, "      ")};`;
  });
  return `{\n${lines.join("\n")}\n    }`;
}

function key(name) {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function arrayOf(text) {
  return /[|&]/.test(text.replace(/\{[\s\S]*\}/, "")) ? `(${text})[]` : `${text}[]`;
}

function typeOf(schema, indent) {
  if (schema === true || schema === undefined) return anything;
  if (schema.$ref !== undefined) return titled(schema.$ref.split("/").at(-1));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return [...new Set(several.map((one) => typeOf(one, indent)))].join(" | ");
  if (schema.allOf !== undefined) return schema.allOf.map((one) => typeOf(one, indent)).join(" & ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(" | ");
  switch (schema.type) {
    case "string":
      return "string";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return arrayOf(typeOf(schema.items, indent));
    case "object":
      return objectOf(schema, indent);
    default:
      return anything;
  }
}

function objectOf(schema, indent) {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) {
    const [pattern] = Object.values(schema.patternProperties ?? {});
    const values = pattern ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : true);
    return `Record<string, ${typeOf(values, indent)}>`;
  }
  const required = new Set(schema.required ?? []);
  const inner = `${indent}  `;
  const lines = properties.flatMap(([name, property]) => [
    ...(property.description === undefined
      ? []
      : [`${inner}/** ${property.deprecated === true ? "@deprecated " : ""}${commented(property.description)} */`]),
    `${inner}${key(name)}${required.has(name) ? "" : "?"}: ${typeOf(property, inner)};`,
  ]);
  return `{\n${lines.join("\n")}\n${indent}}`;
}
