/** Store methods for dashboard logins that were ended before their cookie expires. */
export interface LoginStore {
  /** No cookie of this login is taken any more, by any server of the deployment; `until` is when the last of them ends by itself. */
  endLogin(id: string, until: number, now: number): Promise<void>;
  hasLoginEnded(id: string): Promise<boolean>;
}
