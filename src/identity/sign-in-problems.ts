/** What went wrong in a sign-in: one sentence for the person, and details for the log, without tokens. */
import { AuthorizationResponseError, ClientError, ResponseBodyError } from "openid-client";
import { messageOf } from "../base/errors.ts";
import { SignInFailure } from "../domain/access/identity-provider.ts";
import { shownName } from "../domain/access/person.ts";
import { FetchFailure } from "../domain/run/failure.ts";

const TRY_AGAIN = "Try again.";
const ASK_ADMIN = "Ask an admin of this server.";

export function signInFailure(error: unknown): SignInFailure {
  if (error instanceof SignInFailure) return error;
  return new SignInFailure(sentenceOf(error), detailsOf(error), error);
}

function sentenceOf(error: unknown): string {
  const network = causes(error).find((cause) => cause instanceof FetchFailure);
  if (network !== undefined) return `The provider cannot be reached (${network.failure.reason}). Try again later.`;
  if (error instanceof AuthorizationResponseError)
    return refusalOf(error.error, error.error_description) ?? `The provider refused the sign-in: ${error.error}.`;
  if (error instanceof ResponseBodyError) {
    if (error.error === "invalid_grant") return `The sign-in took too long, or was used before. ${TRY_AGAIN}`;
    if (error.error === "invalid_client" || error.error === "unauthorized_client")
      return `The provider does not accept the client id or secret of this server. ${ASK_ADMIN}`;
    return refusalOf(error.error, error.error_description) ?? `The provider refused the sign-in: ${error.error}.`;
  }
  return sentenceOfCode(error);
}

/** In the provider's words, if it has some. */
function refusalOf(code: string, description: string | undefined): string | null {
  const words = shownName(description ?? "").replace(/[.\s]+$/, "");
  if (words !== "") return `The provider refused the sign-in: ${words}.`;
  return code === "access_denied" ? "The provider refused the sign-in: access denied." : null;
}

/** Of the library, for what the provider sent. */
function sentenceOfCode(error: unknown): string {
  const code = error instanceof ClientError ? error.code : undefined;
  const text = causes(error).map(messageOf).join(" ");
  if (/"state"/.test(text)) return `Another sign-in was started in this browser since. ${TRY_AGAIN}`;
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED")
    return `The provider's token has expired or is not valid yet: the clocks of this server and the provider differ. ${ASK_ADMIN}`;
  if (code === "OAUTH_JWT_CLAIM_COMPARISON_FAILED") {
    const claim = /"(\w+)"/.exec(text)?.[1];
    return `The provider's token is not for this sign-in${claim === undefined ? "" : ` (${claim})`}. ${TRY_AGAIN}`;
  }
  if (code === "OAUTH_KEY_SELECTION_FAILED" || /signature|alg/i.test(text))
    return `The signature of the provider's token is not valid. ${ASK_ADMIN}`;
  if (code === "OAUTH_TIMEOUT") return "The provider did not answer in time. Try again later.";
  return `The provider sent an answer that is not valid. ${ASK_ADMIN}`;
}

/** Codes and messages only: what the provider sent may contain tokens. */
function detailsOf(error: unknown): string {
  const parts = causes(error).map((cause) => {
    const { code, error: oauth } = cause as { code?: unknown; error?: unknown };
    const marks = [code, oauth].filter((mark) => typeof mark === "string");
    return [messageOf(cause), ...marks.map((mark) => `(${String(mark)})`)].join(" ");
  });
  return shownName(parts.join(": "));
}

function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let cause = error; cause instanceof Error && found.length < 5; cause = cause.cause) found.push(cause);
  return found;
}
