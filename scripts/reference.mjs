// Generates docs pages from the OpenAPI description and the event catalogue.
import { describeApi, listRoutes } from "./api-description.mjs";

const cell = (text) => text.replaceAll("|", String.raw`\|`).replaceAll("\n", " ");

export async function eventsPage() {
  const { EVENTS } = await import("../src/domain/run/event-catalogue.ts");
  const rows = Object.entries(EVENTS).map(
    ([type, { levels, meaning, meta }]) =>
      `| \`${type}\` | ${levels.join(", ")} | ${cell(meaning)} | ${meta.map((key) => `\`${key}\``).join(", ")} |`,
  );
  return `# Events

<!-- Made from src/domain/run/event-catalogue.ts by \`node scripts/docs.mjs\`; edit there. -->

The log of a run is a list of events: \`{"id", "run_id", "type", "level", "message", "meta", "created_at"}\`. Read it with \`orb runs events ID\`,
\`GET /jobs/runs/{id}/events\`, or live from [the streams](api.md#event-streams). An event and the change that it describes are
written in one transaction, so the event exists if and only if the change was committed. Each end of a run has exactly one event.

In a program, compare \`type\`: a type never changes its name or meaning. Later versions may add types, so ignore types that you do not know.
\`message\` is a sentence for people and may change. The last column lists the keys that \`meta\` can have.

To filter a list or a stream by type, add \`?type=run.failed,circuit.opened\`; on the command line, use \`orb runs events ID --type run.failed\`.

| type | level | | \`meta\` |
|---|---|---|---|
${rows.join("\n")}

For the events of the other streams (\`overview\`, \`sites\` and so on) see [the API](api.md#at-one-glance). For notifications to operators see
[alerts](monitoring.md#alerts).
`;
}

/** The role of every call, from the routes' own declarations. */
export async function rolesPage() {
  const { ROLE_MEANINGS } = await import("../src/domain/access/roles.ts");
  const { TOOLS } = await import("../src/mcp/tools/registry.ts");
  const mcp = { method: "POST", url: "/mcp", role: "viewer", limited: true };
  const routes = [...(await listRoutes()), mcp]
    .filter(({ method, role, url }) => role !== null && method !== "HEAD" && !url.startsWith("/docs"))
    .map(({ method, url, role, limited }) => {
      const path = url.replace(/:(\w+)/g, "{$1}");
      return { path, row: `| \`${method} ${path}\` | ${role} | ${limited ? "yes" : "no"} |` };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return `# Roles of all calls

<!-- Made from the routes in src/api/routes, src/firecrawl and src/mcp by \`node scripts/docs.mjs\`; edit there. -->

[Teams](teams.md) explains keys, roles and limits. Each role includes the ones before it:

| role | |
|---|---|
${Object.entries(ROLE_MEANINGS)
  .map(([role, meaning]) => `| ${role} | ${meaning} |`)
  .join("\n")}

A key with limits may make the calls marked *yes*; they show and change only what is within its limits.

| call | role | with limits |
|---|---|---|
${[...new Set(routes.map(({ row }) => row))].join("\n")}

## MCP tools

A key is offered the tools that its role includes; each tool makes calls of this table with the rights of the key.

| tool | role |
|---|---|
${TOOLS.map(({ tool }) => `| \`${tool.name}\` | ${tool.role} |`).join("\n")}
`;
}

export async function apiPage() {
  const { schemaRows, typeWords } = await import("../src/cli/print/schema-words.ts");
  const { TAGS } = await import("../src/api/openapi.ts");
  const { paths } = await describeApi();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
  const untold = operations.filter(({ tags = [] }) => !(tags[0] in TAGS)).map(({ path }) => path);
  if (untold.length > 0) throw new Error(`src/api/openapi.ts has no tag for ${untold.join(", ")}`);
  const sections = Object.entries(TAGS).flatMap(([tag, about]) => {
    const own = operations.filter(({ tags }) => tags[0] === tag);
    return [
      `## ${tag}\n\n${sentence(about)}\n`,
      ...own.map((operation) => operationSection(operation, { schemaRows, typeWords })),
    ];
  });
  return `# API reference

<!-- Made from the API's own description by \`node scripts/docs.mjs\`; edit the routes in src/api/routes. -->

Every call with its parameters and responses. \`GET /openapi.json\` of a server has the full description for programs; \`GET /docs\` shows it with forms
to try. [The HTTP API](api.md) explains tokens, errors, lists and streams, which are the same for all calls: any call may also
return one of [these errors](api.md#errors).

${Object.keys(TAGS)
  .map((tag) => `[${tag}](#${tag})`)
  .join(" · ")}

${sections.join("\n")}`;
}

const sentence = (text) => {
  const words = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(words) ? words : `${words}.`;
};

function operationSection(
  { method, path, summary, deprecated, description, parameters = [], requestBody, responses },
  words,
) {
  const takes = [...parameters.map((one) => parameterRow(one, words)), ...bodyRows(requestBody, words)];
  const table = takes.length === 0 ? "" : `| parameter | in | type | |\n|---|---|---|---|\n${takes.join("\n")}\n\n`;
  const old = deprecated === true ? ` Deprecated. ${description}` : "";
  return `### ${method} ${path}\n\n${sentence(summary)}${old}\n\n${table}${answers(responses, words)}\n`;
}

function parameterRow({ name, in: where, required, schema, description = "" }, { typeWords }) {
  // A default makes it optional, whatever the framework reports.
  const needed = required === true && schema.default === undefined ? "; required" : fallbackOf(schema);
  return `| \`${name}\` | ${where} | ${cell(typeWords(schema))}${needed} | ${cell(description)} |`;
}

const fallbackOf = ({ default: value }) => (value === undefined ? "" : `; default: ${JSON.stringify(value)}`);

function bodyRows(requestBody, { schemaRows, typeWords }) {
  const content = requestBody?.content?.["application/json"];
  if (content === undefined) return [];
  const rows = schemaRows(content.schema).filter(({ name }) => name.split(".").length <= 2);
  if (rows.length === 0)
    return [`| the body | body | ${cell(typeWords(content.schema))} | ${cell(content.schema.description ?? "")} |`];
  return rows.map(({ name, type, fallback, about }) => {
    const needed = fallback === "required" ? "; required" : fallback === "" ? "" : `; default: ${fallback}`;
    return `| \`${name}\` | body | ${cell(short(type))}${cell(needed)} | ${cell(about)} |`;
  });
}

/** Unions of large objects are unreadable in one line. */
const short = (type) => (type.length > 160 ? `${type.slice(0, 150)} …` : type);

const OF_THE_FRAME = new Set(["400", "401", "403", "413", "414", "415", "421", "422", "429", "500", "503", "507"]);

function answers(responses, { schemaRows }) {
  const own = Object.entries(responses).filter(([status]) => !OF_THE_FRAME.has(status));
  return own
    .map(([status, { description, content = {} }]) => {
      const types = Object.entries(content);
      const what = description === "Default Response" ? "" : ` ${sentence(description)}`;
      const json = content["application/json"]?.schema;
      const keys = json === undefined ? [] : schemaRows(json.type === "array" ? json.items : json);
      const top = keys.filter(({ name }) => !name.includes(".")).map(({ name }) => `\`${name}\``);
      const shape =
        top.length === 0 ? "" : ` ${json.type === "array" ? "A list of" : "An object with"} ${top.join(", ")}.`;
      const others = types
        .map(([type]) => type)
        .filter((type) => type !== "application/json" && type !== "application/problem+json");
      const also = others.length === 0 ? "" : ` As ${others.map((type) => `\`${type}\``).join(", ")}.`;
      return `- **${status}**${what}${shape}${also}`;
    })
    .join("\n");
}
