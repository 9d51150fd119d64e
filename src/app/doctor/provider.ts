import type { DoctorCheck } from "../../cli/wiring.ts";
import { systemClock } from "../../base/clock.ts";
import type { Config } from "../../config/options.ts";
import { CALLBACK_PATH, SignInFailure } from "../../domain/access/identity-provider.ts";
import { singleSignOnOf } from "../single-sign-on.ts";

/** Whether the provider through which people sign in answers as it should. */
export async function examineProvider(config: Config): Promise<DoctorCheck[]> {
  const provider = singleSignOnOf(config, systemClock)?.provider ?? null;
  if (provider === null) return [];
  const name = "sign-in provider";
  const { issuer, publicUrl } = provider;
  try {
    await provider.begin();
    const what = `${issuer} answers; it must know the redirect URI ${publicUrl}${CALLBACK_PATH}`;
    return [{ name, status: "ok", what, fix: null }];
  } catch (error) {
    if (!(error instanceof SignInFailure)) throw error;
    const fix = "start it, or correct APP_OIDC_ISSUER: its discovery document names its exact issuer";
    return [{ name, status: "problem", what: `${issuer}: ${error.details}`, fix }];
  }
}
