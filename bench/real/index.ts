/**
 * Crawls of real documentation, by eight generators and by hand: which crawler fetches which pages, on a good server
 * and on a bad one.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { print } from "../support/measure.ts";
import { broken } from "./broken.ts";
import { faults } from "./faulty.ts";
import { type Part, plain } from "./plain.ts";
import { findSets } from "./sets.ts";

export const defaultRounds = 1;

const PARTS: Record<string, (part: Part) => Promise<boolean>> = {
  plain,
  faults,
  broken: ({ folder }) => broken(folder),
};

interface Options {
  part?: string;
  only?: string;
  sets?: string;
  limit?: string;
}

export async function run(_rounds: number, { part, only, sets, limit }: Options): Promise<boolean> {
  const chosen = part === undefined ? Object.values(PARTS) : [PARTS[part]];
  if (chosen.includes(undefined))
    throw new Error(`there is no part ${part}: the parts are ${Object.keys(PARTS).join(", ")}`);
  const folder = mkdtempSync(join(tmpdir(), "orb-bench-real-"));
  try {
    const request: Part = {
      // The part `broken` generates its own site.
      sets: part === "broken" ? [] : findSets(sets?.split(","), Number(limit ?? Infinity)),
      folder,
      only: only?.toLowerCase().split(","),
    };
    let reached = true;
    for (const one of chosen) reached = (await one!(request)) && reached;
    return reached;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    print("");
  }
}
