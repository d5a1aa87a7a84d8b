import { originOf, type ProxyPlan } from './plan.ts';

/** Headers that only Postern needs. */
const credentials = ['Authorization', 'X-API-Key'];

/** The controller itself sets it when it asks, and leaves a client's own to the service. */
const redirect = 'X-Auth-Request-Redirect';

/** Annotations of an Ingress for ingress-nginx. */
export function ingressNginxConfiguration({ decisions, copied, describing, reserved }: ProxyPlan): string {
  const names = [...copied, ...credentials, ...describing, redirect, ...reserved];
  return `# Annotations of the Ingress of the service. Postern's own paths need an Ingress of their own, without them. Names that the
# client must not send are 403: this controller deletes none before it asks. Those at the end of the list are never answered,
# and so removed: they are for Postern alone.
metadata:
  annotations:
    nginx.ingress.kubernetes.io/auth-url: ${originOf(decisions)}/
    # The scopes of a caller may be many.
    nginx.ingress.kubernetes.io/proxy-buffer-size: 32k
    nginx.ingress.kubernetes.io/auth-response-headers: ${names.join(',')}
    # Unbuffered: a slow upload that is collected first would arrive with an expired proof.
    nginx.ingress.kubernetes.io/proxy-request-buffering: "off"
`;
}

/** A rule of an HTTPRoute with the filter of GEP-1494, which implementations may lack. */
export function gatewayApiConfiguration({
  decisions,
  service,
  copied,
  deleted,
  reserved,
}: ProxyPlan): string {
  const list = (names: readonly string[], depth: number) =>
    names.map((name) => `${' '.repeat(depth)}- ${name}`).join('\n');
  return `# An HTTPRoute of the Gateway API with its experimental filter ExternalAuth. Postern's own paths need an HTTPRoute of their
# own, without it. Only the headers named here are asked about: the service must not trust any other spelling of them.
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: service
spec:
  parentRefs:
    - name: gateway
  rules:
    - matches:
        - path: { type: PathPrefix, value: / }
      filters:
        - type: RequestHeaderModifier
          requestHeaderModifier:
            remove:
${list([...deleted, ...reserved], 14)}
        - type: ExternalAuth
          externalAuth:
            protocol: HTTP
            backendRef: { name: ${decisions.host}, port: ${decisions.port} }
            http:
              path: /check
              allowedHeaders:
${list(['Authorization', 'X-API-Key', 'Cookie', 'X-Forwarded-For', 'X-Request-Id', 'Sec-WebSocket-Protocol'], 16)}
              allowedResponseHeaders:
${list(copied, 16)}
      backendRefs:
        - { name: ${service.host}, port: ${service.port} }
`;
}
