import { ERROR_CATALOGUE, type ErrorCode, type FieldError, OrbError } from "../../base/errors.ts";

interface Problem {
  code?: string;
  detail?: string;
  hint?: string;
  errors?: FieldError[];
}

/** What the API answered instead of doing what was asked, in the words it gave. */
export class ServerProblem extends OrbError {
  /** As the API calls it; some of its codes belong to HTTP alone. */
  readonly problem: string;

  constructor(problem: string, message: string, options: { hint?: string; fields?: readonly FieldError[] }) {
    super(problem in ERROR_CATALOGUE ? (problem as ErrorCode) : "fetch_failed", message, options);
    this.problem = problem;
  }

  static async from(status: number, read: () => Promise<string>): Promise<ServerProblem> {
    const problem = parse(await read());
    if (problem === null)
      return new ServerProblem("fetch_failed", `the server answered ${status}, and not as Orbweaver does`, {
        hint: "Is the address of --url that of an orb serve?",
      });
    const code = problem.code ?? "fetch_failed";
    const hint =
      code === "unauthorized"
        ? "Set APP_API_TOKEN to the token of that server."
        : code === "host_not_allowed"
          ? "Call the server by the name and port it listens on."
          : // The fields are named already.
            code === "input_invalid" && problem.hint === ERROR_CATALOGUE.input_invalid.remedy
            ? undefined
            : problem.hint;
    return new ServerProblem(code, problem.detail ?? `the server answered ${status}`, {
      ...(hint === undefined ? {} : { hint }),
      fields: problem.errors ?? [],
    });
  }
}

function parse(text: string): Problem | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && "code" in value ? (value as Problem) : null;
  } catch {
    return null;
  }
}
