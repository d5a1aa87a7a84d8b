/** Headers that tell browsers to reach this host by https alone for a year (RFC 6797), names and values in turn. */
export const hstsFields = ['Strict-Transport-Security', 'max-age=31536000'] as const;
