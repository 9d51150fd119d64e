// Reads the OpenAPI description, from which other files are generated.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The description of a fresh installation with default settings. */
export function describeApi() {
  return withApi(async (api) => {
    // Without the client, which is itself generated from this.
    const { signal } = new AbortController();
    const { body } = await api.fetch("http://localhost/openapi.json", { method: "GET", headers: {}, signal });
    const chunks = [];
    for await (const chunk of body) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  });
}

/** Every route with the role that it needs. */
export const listRoutes = () => withApi(async ({ routes }) => routes);

async function withApi(read) {
  const { loadConfig } = await import("../src/config/load.ts");
  const { openLocalApi } = await import("../src/app/local-api.ts");
  const { silentLog } = await import("../src/base/log.ts");
  const folder = mkdtempSync(join(tmpdir(), "orb-types-"));
  try {
    const { config } = loadConfig({ env: {}, cwd: folder });
    const api = await openLocalApi(config, silentLog, "0.0.0", { observed: true });
    try {
      return await read(api);
    } finally {
      await api.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
