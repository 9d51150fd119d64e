/** MCP resources: records of runs, and stored files. */
import {
  type McpServer,
  type ReadResourceResult,
  ResourceNotFoundError,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { isOrbweaverError, type OpenAnswer, type OrbweaverClient } from "../api-client/client.ts";
import { cutAt, short } from "./bounds.ts";
import { decodeCursor } from "./cursor.ts";
import { toFailure } from "./problems.ts";
import { readRecords, readRest, recordsOf } from "./records.ts";
import { render } from "./render.ts";
import { NORMAL_CHARS } from "./shapes.ts";
import { artifactUri, resultsUri } from "./uris.ts";

const LISTED = 20;
/** A binary file is returned whole or not at all. */
const MOST_BYTES = 512 * 1024;

export function addResources(server: McpServer, api: OrbweaverClient): void {
  const aboutResults = {
    title: "Results of a run",
    description: "The records of a run, in parts",
    mimeType: "text/plain",
  };
  // Parse the URI itself: a template variable would include the query.
  const readResults = (uri: URL) =>
    reading(uri, () => results(api, uri.href, idIn(uri), uri.searchParams.get("cursor") ?? undefined));
  server.registerResource(
    "run-results",
    new ResourceTemplate("orb://runs/{run_id}/results", { list: () => listed(api) }),
    aboutResults,
    readResults,
  );
  // Templates match the whole URI: with a query it is another one.
  server.registerResource(
    "run-results-from",
    new ResourceTemplate("orb://runs/{run_id}/results{?cursor}", { list: undefined }),
    { ...aboutResults, description: "The same, starting at a cursor" },
    readResults,
  );
  const aboutFiles = {
    title: "A stored file",
    description: "Exports, downloads, screenshots and page snapshots; text files in parts",
  };
  const readFile = (uri: URL) =>
    reading(uri, () => file(api, uri.href, idIn(uri), Number(uri.searchParams.get("offset") ?? 0)));
  server.registerResource(
    "artifact",
    new ResourceTemplate("orb://artifacts/{artifact_id}", { list: undefined }),
    aboutFiles,
    readFile,
  );
  server.registerResource(
    "artifact-from",
    new ResourceTemplate("orb://artifacts/{artifact_id}{?offset}", { list: undefined }),
    { ...aboutFiles, description: "The same, starting at a character" },
    readFile,
  );
}

function idIn({ pathname }: URL): string {
  return decodeURIComponent(pathname.split("/")[1] ?? "");
}

/** Resources have no error results: a failure is a protocol error with the same message. */
async function reading(uri: URL, read: () => Promise<ReadResourceResult>): Promise<ReadResourceResult> {
  try {
    return await read();
  } catch (error) {
    const failure = toFailure(error, "run");
    if (failure === null) throw error;
    throw isOrbweaverError(error, "not_found") ? new ResourceNotFoundError(uri.href, failure.message) : failure;
  }
}

/** The newest runs with records. */
async function listed(api: OrbweaverClient) {
  const { rows: runs } = await api.runs.list({ limit: LISTED }).page();
  const readable = runs.filter(({ kind }) => kind === "page" || kind === "crawl");
  return {
    resources: readable.map(({ id, name, url, status, kind, created_at: created }) => ({
      uri: resultsUri(id),
      name: short(name ?? url ?? id, 200) ?? id,
      description: `${kind}, ${status}, started ${created}`,
      mimeType: "text/plain",
    })),
  };
}

async function results(
  api: OrbweaverClient,
  uri: string,
  runId: string,
  cursor: string | undefined,
): Promise<ReadResourceResult> {
  const reader = recordsOf(api, runId, { maxChars: NORMAL_CHARS });
  const position = decodeCursor(cursor);
  if (position.within !== undefined) {
    const { rest, next } = await readRest(reader, position, position.within);
    return contents(uri, render({ rest, next }));
  }
  const read = await readRecords(reader, position);
  const more = read.atEnd ? null : `read ${resultsUri(runId, read.position)}`;
  return contents(uri, render({ records: read.records, cut: read.cut, next: more }) || "no records");
}

function contents(uri: string, text: string, mimeType = "text/plain"): ReadResourceResult {
  return { contents: [{ uri, mimeType, text }] };
}

async function file(api: OrbweaverClient, uri: string, id: string, offset: number): Promise<ReadResourceResult> {
  const answer = await api.artifact(id);
  const type = answer.headers.get("content-type")?.split(";")[0] ?? "application/octet-stream";
  const size = Number(answer.headers.get("content-length") ?? 0);
  const isText = type.startsWith("text/") || type === "application/json";
  if (isText) return textFile(uri, id, type, answer, Number.isSafeInteger(offset) && offset > 0 ? offset : 0);
  if (size > MOST_BYTES) {
    answer.close();
    return contents(
      uri,
      `a file of ${size} bytes (${type}), too large to be read here: use GET /artifacts/${id} of the HTTP API`,
    );
  }
  return { contents: [{ uri, mimeType: type, blob: Buffer.from(await answer.bytes()).toString("base64") }] };
}

/** From a character on, as much as fits into one answer; stops reading there. */
async function textFile(
  uri: string,
  id: string,
  type: string,
  answer: OpenAnswer,
  offset: number,
): Promise<ReadResourceResult> {
  const decoder = new TextDecoder("utf-8");
  let passed = 0;
  let kept = "";
  for await (const part of answer) {
    const text = decoder.decode(part, { stream: true });
    const skip = Math.min(text.length, Math.max(0, offset - passed));
    passed += text.length;
    kept += text.slice(skip);
    if (kept.length > NORMAL_CHARS) break;
  }
  const end = cutAt(kept, NORMAL_CHARS - 200);
  if (end >= kept.length) return contents(uri, kept, type);
  return contents(uri, `${kept.slice(0, end)}\n[cut here; for the rest, read ${artifactUri(id, offset + end)}]`, type);
}
