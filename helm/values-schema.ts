import { configJsonSchema } from '../src/config/json-schema.ts';
import { chartValues, type Schema } from './values-shape.ts';

/**
 * The JSON Schema of the chart's values: the chart's own, and the configuration's by the schema that the gateway reads
 * it with. Draft 7, which is what Helm knows. `values.schema.json` is this, written out.
 */
export function valuesSchema(): Schema {
  const { $schema, title, $defs, required, ...config } = asDraft7(configJsonSchema()) as Schema;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the Postern chart',
    ...chartValues({
      ...config,
      description: 'The configuration file, key by key; tenant, base_url, upstreams and routes are needed.',
      properties: writtenOut(config.properties as Record<string, Schema>),
      required: ['listen', 'management', 'stores', 'shutdown'],
    }),
    definitions: $defs as Record<string, Schema>,
  };
}

/** What the chart itself has to read can't come from outside the file, nor be left out. */
function writtenOut(sections: Record<string, Schema>): Record<string, Schema> {
  const port = { type: 'integer', minimum: 1, maximum: 65_535 };
  const duration = { type: 'string', pattern: '^[0-9]{1,9}(ms|s|m|h|d)$' };
  return {
    ...sections,
    listen: withKeys(sections.listen!, { port }),
    management: withKeys(sections.management!, { host: { type: 'string' }, port }),
    upstreams: withoutRequired(sections.upstreams!),
    shutdown: withKeys(sections.shutdown!, { delay: duration, timeout: duration }),
  };
}

/** A missing address has a sentence of the chart's own, together with whatever else is wrong. */
function withoutRequired(section: Schema): Schema {
  const { required, ...upstream } = section.additionalProperties as Schema;
  return { ...section, additionalProperties: upstream };
}

function withKeys(section: Schema, keys: Record<string, Schema>): Schema {
  const properties = section.properties as Record<string, Schema>;
  const described = Object.entries(keys).map(([key, schema]) => [
    key,
    { description: properties[key]!.description, ...schema },
  ]);
  return {
    ...section,
    properties: { ...properties, ...Object.fromEntries(described) },
    required: Object.keys(keys),
  };
}

/** Definitions have another name there, and Helm's regular expressions can't look ahead: those `check` alone judges. */
function asDraft7(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === '$ref') return value.replace('#/$defs/', '#/definitions/');
    return key === 'pattern' && /\(\?[!=<]/.test(value) ? undefined : value;
  });
}
