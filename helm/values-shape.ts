/** A JSON Schema, or a part of one. */
export type Schema = { readonly [key: string]: unknown };

const string: Schema = { type: 'string' };
/** Of no use when it is empty. */
const text: Schema = { type: 'string', minLength: 1 };
const boolean: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer', minimum: 0 };
const optionalCount: Schema = { type: ['integer', 'null'], minimum: 1 };
const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 };
const countOrPercent: Schema = { type: ['integer', 'string', 'null'], minimum: 0, pattern: '^[0-9]{1,3}%$' };
const texts: Schema = { type: 'array', items: string };
/** Passed on to Kubernetes as it is, which knows its schema. */
const anyObject: Schema = { type: 'object' };
const anyObjects: Schema = { type: 'array', items: anyObject };
const stringMap: Schema = { type: 'object', additionalProperties: string };
/** Without those that tell the pods and Services of one release from another's. */
const labels: Schema = {
  ...stringMap,
  propertyNames: { not: { pattern: '^(postern/.*|app\\.kubernetes\\.io/(name|instance))$' } },
};

/** Not what YAML takes for something else, for it stands in manifests as it is. */
const name: Schema = {
  type: 'string',
  pattern: '^([a-z]([a-z0-9-]*[a-z0-9])?)?$',
  not: { enum: ['true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n'] },
};

/**
 * An object of these keys alone. Helm takes away a key that is set to null, with its default: of those that may be empty
 * the templates do without, the others are required.
 */
function exactly(properties: Record<string, Schema>): Schema {
  const required = Object.keys(properties).filter((key) => !isEmptiable(properties[key]!));
  const keys = { type: 'object', properties, additionalProperties: false };
  return required.length > 0 ? { ...keys, required } : keys;
}

function isEmptiable({ type, enum: values, pattern, minLength, minItems, properties }: Schema): boolean {
  if (Array.isArray(type)) return type.includes('null');
  if (type === 'object') return properties === undefined;
  if (type !== 'string') return type === 'array' && !minItems;
  if (Array.isArray(values)) return values.includes('');
  return !minLength && (typeof pattern !== 'string' || new RegExp(pattern).test(''));
}

function oneOf(...values: string[]): Schema {
  return { type: 'string', enum: values };
}

const secret = { existingSecret: string, key: string, value: string };

const objectKeys = [
  'podSecurityContext',
  'securityContext',
  'resources',
  'startupProbe',
  'livenessProbe',
  'readinessProbe',
  'strategy',
  'lifecycle',
  'affinity',
  'dnsConfig',
];

const objectListKeys = [
  'imagePullSecrets',
  'tolerations',
  'topologySpreadConstraints',
  'hostAliases',
  'extraEnv',
  'extraEnvFrom',
  'extraVolumes',
  'extraVolumeMounts',
  'extraContainers',
  'extraInitContainers',
];

const labelKeys = ['commonLabels', 'deploymentLabels', 'podLabels'];

const stringMapKeys = ['commonAnnotations', 'deploymentAnnotations', 'podAnnotations', 'nodeSelector'];

const textKeys = ['existingConfig', 'priorityClassName', 'runtimeClassName', 'schedulerName', 'dnsPolicy'];

function all(keys: readonly string[], schema: Schema): Record<string, Schema> {
  return Object.fromEntries(keys.map((key) => [key, schema]));
}

/** The schema of all values, around that of the configuration. */
export function chartValues(config: Schema): Schema {
  return exactly({
    // What a chart with this one as its dependency hands down.
    global: anyObject,
    enabled: { type: ['boolean', 'null'] },
    mode: oneOf('gateway', 'sidecar'),
    fullnameOverride: name,
    // A label's value, too.
    nameOverride: { ...name, maxLength: 63 },
    image: exactly({
      repository: string,
      tag: string,
      digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
      pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
    }),
    config,
    secrets: exactly({
      bootstrapToken: exactly({ ...secret, value: { type: 'string', pattern: '^(.{20,})?$' } }),
      recordsPassword: exactly({ ...secret, required: boolean }),
      sessionsPassword: exactly({ ...secret, required: boolean }),
      sessionsSentinelPassword: exactly(secret),
      recordsEncryption: {
        type: 'array',
        items: {
          ...exactly({
            id: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,63}$' },
            existingSecret: text,
            key: text,
          }),
          required: ['id', 'existingSecret'],
        },
      },
      identityProviders: { type: 'object', additionalProperties: exactly(secret) },
      assertions: { type: 'object', additionalProperties: exactly(secret) },
    }),
    tls: exactly({
      existingSecret: string,
      clientCa: exactly({ existingSecret: string, key: text }),
      clientCertificate: oneOf('request', 'require'),
    }),
    sidecar: exactly({
      native: boolean,
      containers: anyObjects,
      initContainers: anyObjects,
      preStopSleepSeconds: count,
      stopSeconds: count,
    }),
    ...workload(),
    ...network(),
    ...all(objectKeys, anyObject),
    ...all(objectListKeys, anyObjects),
    ...all(labelKeys, labels),
    ...all(stringMapKeys, stringMap),
    ...all(textKeys, string),
    existingConfigKey: text,
    extraArgs: texts,
    extraManifests: { type: 'array', items: { type: ['object', 'string'] } },
  });
}

function workload(): Record<string, Schema> {
  return {
    replicaCount: count,
    autoscaling: exactly({
      enabled: boolean,
      minReplicas: optionalCount,
      maxReplicas: optionalCount,
      targetCPUUtilizationPercentage: optionalCount,
      targetMemoryUtilizationPercentage: optionalCount,
      behavior: anyObject,
    }),
    podDisruptionBudget: exactly({
      enabled: boolean,
      maxUnavailable: countOrPercent,
      minAvailable: countOrPercent,
      unhealthyPodEvictionPolicy: oneOf('', 'IfHealthyBudget', 'AlwaysAllow'),
    }),
    persistence: exactly({
      enabled: boolean,
      existingClaim: string,
      size: text,
      storageClass: string,
      accessModes: { ...texts, minItems: 1 },
      annotations: stringMap,
      labels,
      keep: boolean,
    }),
    serviceAccount: exactly({ create: boolean, name: string, annotations: stringMap }),
    terminationGracePeriodSeconds: optionalCount,
    revisionHistoryLimit: count,
    minReadySeconds: count,
    progressDeadlineSeconds: optionalCount,
    tmpSizeLimit: text,
    rollOnChange: boolean,
  };
}

function network(): Record<string, Schema> {
  return {
    service: exactly({
      type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
      port,
      nodePort: { type: ['integer', 'null'] },
      annotations: stringMap,
      labels,
      loadBalancerClass: string,
      loadBalancerSourceRanges: texts,
      externalTrafficPolicy: string,
      ipFamilyPolicy: oneOf('', 'SingleStack', 'PreferDualStack', 'RequireDualStack'),
      sessionAffinity: oneOf('', 'None', 'ClientIP'),
      trafficDistribution: string,
    }),
    ingress: exactly({
      enabled: boolean,
      className: string,
      annotations: stringMap,
      labels,
      hosts: anyObjects,
      tls: anyObjects,
      tlsSecrets: stringMap,
    }),
    httpRoute: exactly({
      enabled: boolean,
      annotations: stringMap,
      labels,
      parentRefs: anyObjects,
      hostnames: texts,
      filters: anyObjects,
    }),
    networkPolicy: exactly({
      enabled: boolean,
      from: anyObjects,
      managementFrom: anyObjects,
      decisionsFrom: anyObjects,
      extraIngress: anyObjects,
      egress: anyObjects,
      upstreamPodLabels: stringMap,
      upstreamPorts: { type: 'array', items: port },
      upstreamExtraIngress: anyObjects,
    }),
    metrics: exactly({
      serviceMonitor: exactly({
        enabled: boolean,
        labels,
        annotations: stringMap,
        interval: text,
        scrapeTimeout: text,
        relabelings: anyObjects,
        metricRelabelings: anyObjects,
      }),
      prometheusRule: exactly({
        enabled: boolean,
        labels,
        annotations: stringMap,
        // It stands among the expressions of the rules.
        job: { type: 'string', pattern: '^[A-Za-z0-9_./:-]*$' },
        additionalGroups: anyObjects,
      }),
      dashboard: exactly({ enabled: boolean, labels, annotations: stringMap }),
    }),
  };
}
