import { z } from 'zod';
import { duration } from '../values/durations-and-sizes.ts';
import { whole } from '../values/scalars.ts';

/** `audit`: retention of audit events in the records. */
export const audit = z
  .strictObject({
    retention: duration({ min: '1h' }).prefault('90d').describe('Time for which an audit event is kept.'),
    max_events: whole({ min: 1000 })
      .prefault(1_000_000)
      .describe(
        'Maximum number of audit events; beyond it the oldest are dropped, and no request is refused.',
      ),
  })
  .prefault({})
  .describe('Audit events in the records store; the log has them too.');
