/** Records of the audit. */
export interface AuditFinding {
  check: string;
  what: string;
}

export interface AuditReport {
  checks: string[];
  findings: AuditFinding[];
}
