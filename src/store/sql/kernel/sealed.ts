import type { Context } from "./context.ts";

/** Markers of sealed values in stored JSON: credentials, proxies of a run, params of steps. */
const isIn = (column: string) =>
  ['"sealed":"', '"sealed_proxy":"', "orb-sealed:"].map((text) => `${column} LIKE '%${text}%'`).join(" OR ");

/**
 * Anything sealed or marked with the deployment's key. Scans whole tables: only called while the key file is empty, at
 * most once in the life of a deployment.
 */
const HAS_SEALED = `SELECT (
    EXISTS (SELECT 1 FROM meta WHERE name = 'key_mark')
    OR EXISTS (SELECT 1 FROM sessions)
    OR EXISTS (SELECT 1 FROM webhooks)
    OR EXISTS (SELECT 1 FROM notification_channels)
    OR EXISTS (SELECT 1 FROM idempotency_keys)
    OR EXISTS (SELECT 1 FROM proxies WHERE sealed IS NOT NULL)
    OR EXISTS (SELECT 1 FROM jobs WHERE ${isIn("recipe")})
    OR EXISTS (SELECT 1 FROM job_versions WHERE ${isIn("recipe")})
    OR EXISTS (SELECT 1 FROM runs WHERE ${isIn("snapshot")} OR ${isIn("proxies")})
    OR EXISTS (SELECT 1 FROM workflow_snapshots WHERE ${isIn("snapshot")})
    OR EXISTS (SELECT 1 FROM tasks WHERE ${isIn("url")} OR ${isIn("payload")})
    OR EXISTS (SELECT 1 FROM fixtures WHERE sealed = 1)
    OR EXISTS (SELECT 1 FROM run_pages WHERE sealed = 1)
    OR EXISTS (SELECT 1 FROM monitor_states WHERE sealed = 1)
    OR EXISTS (SELECT 1 FROM monitor_pages WHERE sealed = 1)
    OR EXISTS (SELECT 1 FROM monitor_files WHERE sealed = 1)
    OR EXISTS (SELECT 1 FROM tracked_pages WHERE sealed = 1)
    OR EXISTS (SELECT 1 FROM templates WHERE ${isIn("definition")})
  ) AS found`;

export function hasSealed({ connection }: Context): boolean {
  const { found } = connection.sql(HAS_SEALED).get() as { found: number | boolean };
  return Boolean(found);
}
