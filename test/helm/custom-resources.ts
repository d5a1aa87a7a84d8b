interface ObjectMeta {
  name: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** What the chart uses of the Gateway API's `HTTPRoute`. */
export interface HTTPRoute {
  apiVersion: 'gateway.networking.k8s.io/v1';
  kind: 'HTTPRoute';
  metadata: ObjectMeta;
  spec: {
    parentRefs: { name: string; namespace?: string; sectionName?: string; port?: number }[];
    hostnames: string[];
    rules: {
      matches: { path: { type: 'Exact' | 'PathPrefix' | 'RegularExpression'; value: string } }[];
      filters?: { type: string; [detail: string]: unknown }[];
      backendRefs: { name: string; port: number }[];
    }[];
  };
}

/** What the chart uses of the Prometheus operator's `ServiceMonitor`. */
export interface ServiceMonitor {
  apiVersion: 'monitoring.coreos.com/v1';
  kind: 'ServiceMonitor';
  metadata: ObjectMeta;
  spec: {
    selector: { matchLabels: Record<string, string> };
    endpoints: {
      port: string;
      path: string;
      interval: string;
      scrapeTimeout: string;
      relabelings?: object[];
      metricRelabelings?: object[];
    }[];
  };
}

/** What the chart uses of the Prometheus operator's `PrometheusRule`. */
export interface PrometheusRule {
  apiVersion: 'monitoring.coreos.com/v1';
  kind: 'PrometheusRule';
  metadata: ObjectMeta;
  spec: {
    groups: {
      name: string;
      rules: {
        alert: string;
        expr: string;
        for?: string;
        labels?: Record<string, string>;
        annotations?: Record<string, string>;
      }[];
    }[];
  };
}
