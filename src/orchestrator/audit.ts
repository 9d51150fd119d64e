import type { ArtifactStore } from "../artifacts/port.ts";
import type { AuditReport } from "../store/records/audit-records.ts";
import type { Store } from "../store/ports/port.ts";
import { inOrder } from "../workflows/items/in-order.ts";

const PAGE = 1000;
/** Files may be in a remote bucket. */
const AT_ONCE = 16;
const MOST_FINDINGS = 20;

async function* savedPages(store: Store) {
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = await store.fixtureFiles(after, PAGE);
    yield* page;
    after = page.at(-1)?.number;
  }
}

/** Checks the store's invariants and that every referenced file exists; `deep` also re-reads each file. */
export async function auditAll(
  store: Store,
  artifacts: ArtifactStore,
  options: { deep: boolean },
): Promise<AuditReport> {
  const report = await store.audit();
  const check = options.deep
    ? "every stored file exists with its original content"
    : "every stored file exists with its original size";
  const findings = [...report.findings];
  let found = 0;
  for (let after = 0; found < MOST_FINDINGS;) {
    const page = await store.artifactsSince(0, after, PAGE);
    const isSound = async ({ hash, size }: (typeof page)[number]) =>
      options.deep ? artifacts.verify(hash) : (await artifacts.sizeOf(hash)) === size;
    let at = 0;
    for await (const sound of inOrder(page, AT_ONCE, isSound)) {
      const file = page[at++]!;
      // A row deleted since it was read took its file with it.
      if (!sound && (await store.artifact(file.id)) !== null && (found += 1) <= MOST_FINDINGS)
        findings.push({ check, what: `file ${file.hash} of task ${file.taskId} is missing or damaged` });
    }
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.row;
  }
  for await (const { number, hash, size } of savedPages(store)) {
    const isSound = options.deep ? await artifacts.verify(hash) : (await artifacts.sizeOf(hash)) === size;
    if (isSound || (await store.fixtureRecords(number)) === null) continue;
    if ((found += 1) > MOST_FINDINGS) break;
    findings.push({ check, what: `file ${hash} of saved page ${number} is missing or damaged` });
  }
  return { checks: [...report.checks, check], findings };
}
