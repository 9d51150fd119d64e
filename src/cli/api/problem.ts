import { isOrbweaverError, type OrbweaverError } from "../../api-client/error.ts";
import { ERROR_CATALOGUE, type ErrorCode, OrbError } from "../../base/errors.ts";

/** A problem response of the API, with its own message. */
export class ServerProblem extends OrbError {
  /** The API's code; some codes belong to HTTP alone. */
  readonly problem: string;

  constructor(error: OrbweaverError) {
    const problem = CLIENT_ERRORS.has(error.code) ? "fetch_failed" : error.code;
    const hint = hintOf(error);
    super(problem in ERROR_CATALOGUE ? (problem as ErrorCode) : "fetch_failed", error.message, {
      cause: error,
      ...(hint === null ? {} : { hint }),
      fields: error.errors,
    });
    this.problem = problem;
  }
}

/** Not a response of the API: no server, or another one. */
const CLIENT_ERRORS: ReadonlySet<string> = new Set(["unreachable", "timed_out", "not_orbweaver"]);

/** A failed API call as an error of this program; null: another error, or another code. */
export function refusal(error: unknown, ...codes: OrbweaverError["code"][]): ServerProblem | null {
  return isOrbweaverError(error, ...codes) ? new ServerProblem(error) : null;
}

/** The remedy, for a command line. */
function hintOf({ code, hint }: OrbweaverError): string | null {
  if (code === "unauthorized") return "Set APP_API_TOKEN to the token of that server.";
  if (code === "host_not_allowed") return "Call the server by the name and port it listens on.";
  if (code === "unreachable") return "Check the host and port of --url, and that orb serve is running there.";
  if (code === "not_orbweaver") return "Check that --url is the URL of an orb serve.";
  // The message names the fields already.
  return code === "input_invalid" && hint === ERROR_CATALOGUE.input_invalid.remedy ? null : hint;
}
