/** The port of sign-in through an identity provider. */
import type { PersonInGroups } from "./person.ts";

/** What one sign-in must repeat when the provider sends the person back. */
export interface SignInChecks {
  state: string;
  nonce: string;
  codeVerifier: string;
}

export interface IdentityProvider {
  readonly issuer: string;
  readonly clientId: string;
  /** As the sign-in page names it. */
  readonly name: string;
  /** The address of this server for people, without a slash at its end. */
  readonly publicUrl: string;
  /** How long a person stays signed in. */
  readonly sessionMs: number;
  /** Starts a sign-in: the provider's page. Throws SignInFailure. */
  begin(): Promise<{ url: string; checks: SignInChecks }>;
  /** Ends it with the query that the provider sent. Throws SignInFailure. */
  complete(query: string, checks: SignInChecks): Promise<PersonInGroups>;
}

/** The path to which the provider sends people back; its URL must be registered there. */
export const CALLBACK_PATH = "/session/oidc/callback";

/** A sign-in that was not completed: a sentence for the person, and details for the log. */
export class SignInFailure extends Error {
  readonly details: string;

  constructor(message: string, details: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "SignInFailure";
    this.details = details;
  }
}
