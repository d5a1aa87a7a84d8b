/** A JSON Schema, or a part of one. */
export type Schema = { readonly [key: string]: unknown };

const string: Schema = { type: 'string' };
const boolean: Schema = { type: 'boolean' };
const count: Schema = { type: 'integer', minimum: 0 };
const optionalCount: Schema = { type: ['integer', 'null'], minimum: 1 };
const port: Schema = { type: 'integer', minimum: 1, maximum: 65_535 };
const countOrPercent: Schema = { type: ['integer', 'string', 'null'] };
const texts: Schema = { type: 'array', items: string };
/** Passed on to Kubernetes as it is, which knows its schema. */
const anyObject: Schema = { type: 'object' };
const anyObjects: Schema = { type: 'array', items: anyObject };
const labels: Schema = { type: 'object', additionalProperties: string };

function exactly(properties: Record<string, Schema>): Schema {
  return { type: 'object', properties, additionalProperties: false };
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

const labelKeys = ['commonLabels', 'commonAnnotations', 'podLabels', 'podAnnotations', 'nodeSelector'];

const textKeys = [
  'existingConfig',
  'existingConfigKey',
  'priorityClassName',
  'runtimeClassName',
  'dnsPolicy',
];

function all(keys: readonly string[], schema: Schema): Record<string, Schema> {
  return Object.fromEntries(keys.map((key) => [key, schema]));
}

/** The schema of all values, around that of the configuration. */
export function chartValues(config: Schema): Schema {
  return exactly({
    // What a chart with this one as its dependency hands down.
    global: anyObject,
    enabled: boolean,
    mode: oneOf('gateway', 'sidecar'),
    fullnameOverride: { type: 'string', pattern: '^([a-z]([a-z0-9-]*[a-z0-9])?)?$' },
    image: exactly({
      repository: { type: 'string', minLength: 1 },
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
      identityProviders: { type: 'object', additionalProperties: exactly(secret) },
    }),
    tls: exactly({ existingSecret: string }),
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
    ...all(textKeys, string),
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
    }),
    persistence: exactly({
      enabled: boolean,
      existingClaim: string,
      size: string,
      storageClass: string,
      accessModes: texts,
      annotations: labels,
      keep: boolean,
    }),
    serviceAccount: exactly({ create: boolean, name: string, annotations: labels }),
    terminationGracePeriodSeconds: optionalCount,
    revisionHistoryLimit: count,
    rollOnChange: boolean,
  };
}

function network(): Record<string, Schema> {
  return {
    service: exactly({
      type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
      port,
      nodePort: { type: ['integer', 'null'] },
      annotations: labels,
      labels,
      loadBalancerClass: string,
      loadBalancerSourceRanges: texts,
      externalTrafficPolicy: string,
    }),
    ingress: exactly({
      enabled: boolean,
      className: string,
      annotations: labels,
      hosts: anyObjects,
      tls: anyObjects,
    }),
    httpRoute: exactly({
      enabled: boolean,
      annotations: labels,
      parentRefs: anyObjects,
      hostnames: texts,
      filters: anyObjects,
    }),
    networkPolicy: exactly({
      enabled: boolean,
      from: anyObjects,
      managementFrom: anyObjects,
      extraIngress: anyObjects,
      egress: anyObjects,
      upstreamPodLabels: labels,
      upstreamPorts: { type: 'array', items: port },
    }),
    metrics: exactly({
      serviceMonitor: exactly({
        enabled: boolean,
        labels,
        annotations: labels,
        interval: string,
        scrapeTimeout: string,
        relabelings: anyObjects,
        metricRelabelings: anyObjects,
      }),
      prometheusRule: exactly({
        enabled: boolean,
        labels,
        annotations: labels,
        additionalGroups: anyObjects,
      }),
    }),
  };
}
