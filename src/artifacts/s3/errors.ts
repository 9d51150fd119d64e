/** Maps errors of an S3 storage to `OrbError`s with hints. */
import { OrbError, systemCode } from "../../base/errors.ts";

/** Whether a retry of the same request may succeed. */
export function isTransient(error: unknown): boolean {
  const status = statusOf(error);
  return status === null ? !(error instanceof OrbError) : status >= 500 || status === 429 || status === 408;
}

export function isMissing(error: unknown): boolean {
  return statusOf(error) === 404 && codeOf(error) !== "NoSuchBucket";
}

/** The HTTP status; null: no response. */
export function statusOf(error: unknown): number | null {
  const status = error instanceof Error && "status" in error ? error.status : null;
  return typeof status === "number" ? status : null;
}

/** The S3 error code. Not every server declares its XML as the client expects. */
function codeOf(error: unknown): string {
  const { serviceCode, body } = error as { serviceCode?: string; body?: string };
  if (serviceCode !== undefined && serviceCode !== "Unknown") return serviceCode;
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(body ?? "")?.[1] ?? "";
}

export interface BucketLocation {
  bucket: string;
  /** Without any credentials. */
  endpoint: string;
  region: string;
}

const GOES_ON = "Work waits and resumes automatically.";
const FULL: ReadonlySet<string> = new Set(["QuotaExceeded", "XMinioStorageFull", "EntityTooLarge"]);
const WRONG_REGION: ReadonlySet<string> = new Set([
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
  "PermanentRedirect",
  "TemporaryRedirect",
]);

/** None of these is a failure of the page that hit it: work waits until the storage is usable. */
export function asStorageError(error: unknown, { bucket, endpoint, region }: BucketLocation): OrbError {
  if (error instanceof OrbError) return error;
  const status = statusOf(error);
  const code = codeOf(error);
  const unavailable = (message: string, hint: string) =>
    new OrbError("artifacts_unavailable", message, { hint: `${hint} ${GOES_ON}`, cause: error });
  if (status === null) {
    const why = isTimeout(error) ? "it does not answer in time" : (systemCode(error) ?? "the connection was lost");
    return unavailable(
      `the artifact storage at ${endpoint} is unreachable: ${why}`,
      "Check that it is running, and that APP_S3_ENDPOINT is correct.",
    );
  }
  if (status === 507 || FULL.has(code))
    return new OrbError("disk_full", `no space is left in the bucket ${bucket}`, { cause: error });
  if (code === "NoSuchBucket")
    return unavailable(
      `the storage at ${endpoint} has no bucket named ${bucket}`,
      "Create it, or correct APP_ARTIFACTS_URL.",
    );
  if (code === "RequestTimeTooSkewed")
    return unavailable(
      "the clocks of this machine and of the storage differ too much",
      "Set the clock of this machine.",
    );
  if (WRONG_REGION.has(code) || (status >= 300 && status < 400))
    return unavailable(
      `the bucket ${bucket} is not in the region ${region} of ${endpoint}`,
      "Set APP_S3_REGION to the region of the bucket, and APP_S3_ENDPOINT to its endpoint.",
    );
  if (status === 401 || status === 403)
    return unavailable(
      `the storage denies access to the bucket ${bucket} (${code === "" ? status : code})`,
      "Check APP_S3_ACCESS_KEY_ID and APP_S3_SECRET_ACCESS_KEY, and that the key may list the bucket and get, put and delete its objects.",
    );
  return unavailable(
    `the artifact storage answered ${status}${code === "" ? "" : ` (${code})`}`,
    "See the log of the storage.",
  );
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === "TimeoutError" || isTimeout(error.cause));
}
