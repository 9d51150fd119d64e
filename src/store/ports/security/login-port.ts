/** Store methods for dashboard logins that were ended before their cookie expires. */
export interface LoginStore {
  /**
   * Invalidates all cookies of a login on every server of the deployment; `until` is when the last of them expires
   * anyway.
   */
  endLogin(id: string, until: number, now: number): Promise<void>;
  hasLoginEnded(id: string): Promise<boolean>;
}
