import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { dispositionOf } from "../domain/run/classify.ts";
import type { Failure } from "../domain/run/failure.ts";
import type { TaskArtifact } from "../domain/run/outcome.ts";
import type { PageAnswer, PageEvidence } from "../fetch/page.ts";

/** Where evidence goes; the artifact store has this shape. */
export interface EvidenceStore {
  writer(): { write(chunk: Buffer): void | Promise<void>; finish(): Promise<{ hash: string; size: number }> };
}

export interface EvidenceKeeper {
  /** Stores the evidence of a failed page: a screenshot, and its HTML at that time. */
  keep(
    url: string,
    what: Failure,
    seen: PageEvidence | null,
    answer: PageAnswer | null,
  ): Promise<readonly TaskArtifact[]>;
}

const MAX_BYTES = 5 * 1024 * 1024;

export function createEvidenceKeeper(artifacts: EvidenceStore, log: Log): EvidenceKeeper {
  const store = async (bytes: Buffer, contentType: string, url: string, role: "screenshot" | "snapshot") => {
    const writer = artifacts.writer();
    await writer.write(bytes);
    return { ...(await writer.finish()), contentType, url, role };
  };
  return {
    async keep(url, what, seen, answer) {
      const files: TaskArtifact[] = [];
      try {
        if (seen?.screenshot) files.push(await store(Buffer.from(seen.screenshot), "image/png", url, "screenshot"));
        const html = seen?.html ?? null;
        if (html !== null)
          files.push(
            await store(Buffer.from(html).subarray(0, MAX_BYTES), "text/html; charset=utf-8", url, "snapshot"),
          );
        else if (answer !== null && isWorthKeeping(what)) {
          const bytes = Buffer.from(answer.body as string);
          if (bytes.byteLength > 0)
            files.push(
              await store(
                bytes.subarray(0, MAX_BYTES),
                answer.contentType ?? "application/octet-stream",
                url,
                "snapshot",
              ),
            );
        }
      } catch (error) {
        // The failure must be reported even when its screenshot cannot be kept.
        log.warn("cannot store the evidence of a page", { error: messageOf(error) });
      }
      return files;
    },
  };
}

/** The page explains a block or a missing field, but not a 404, a rate limit or an unavailable model. */
function isWorthKeeping(what: Failure): boolean {
  return what.code === "blocked" || (what.code === "extraction" && dispositionOf(what) === "permanent");
}
