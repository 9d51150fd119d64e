import { isOrbweaverError, type OrbweaverError } from "../../api-client/error.ts";
import { ERROR_CATALOGUE, type ErrorCode, OrbError } from "../../base/errors.ts";

/** What the API answered instead of doing what was asked, in the words it gave. */
export class ServerProblem extends OrbError {
  /** As the API calls it; some of its codes belong to HTTP alone. */
  readonly problem: string;

  constructor(error: OrbweaverError) {
    const problem = OF_THE_CLIENT.has(error.code) ? "fetch_failed" : error.code;
    const hint = hintOf(error);
    super(problem in ERROR_CATALOGUE ? (problem as ErrorCode) : "fetch_failed", error.message, {
      cause: error,
      ...(hint === null ? {} : { hint }),
      fields: error.errors,
    });
    this.problem = problem;
  }
}

/** Not an answer of the API: no server, or another one. */
const OF_THE_CLIENT: ReadonlySet<string> = new Set(["unreachable", "timed_out", "not_orbweaver"]);

/** What a call of the API failed with, as an error of this program; null: it was something else, or another code. */
export function refusal(error: unknown, ...codes: OrbweaverError["code"][]): ServerProblem | null {
  return isOrbweaverError(error, ...codes) ? new ServerProblem(error) : null;
}

/** What to do about it, on a command line. */
function hintOf({ code, hint }: OrbweaverError): string | null {
  if (code === "unauthorized") return "Set APP_API_TOKEN to the token of that server.";
  if (code === "host_not_allowed") return "Call the server by the name and port it listens on.";
  if (code === "unreachable") return "Is orb serve running there? Look at the address and the port of --url.";
  if (code === "not_orbweaver") return "Is the address of --url that of an orb serve?";
  // The fields are named already.
  return code === "input_invalid" && hint === ERROR_CATALOGUE.input_invalid.remedy ? null : hint;
}
