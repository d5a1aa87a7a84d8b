/** Whether a command, run in the container until the signal, ends with 0. */
type Execute = (command: readonly string[], signal: AbortSignal) => Promise<boolean>;

/** The pod's address, as the kubelet sees it: a server on 127.0.0.1 is not reached there, one on all addresses is. */
const podAddress = '127.0.0.2';

/** How the kubelet asks the probes of a container: HTTP at the pod's address, commands inside. Throws for other kinds. */
export function createProbe(spec: any, execute: Execute): (name: string) => Promise<boolean> {
  return async (name) => {
    const { httpGet, exec, timeoutSeconds = 1 } = spec[name];
    const signal = AbortSignal.timeout(timeoutSeconds * 1000);
    if (exec) return execute(exec.command, signal);
    if (!httpGet) throw new Error(`${name} of ${spec.name} is of no kind that is known`);
    const named = spec.ports?.find((port: any) => port.name === httpGet.port);
    const port = named?.containerPort ?? httpGet.port;
    return fetch(`http://${podAddress}:${port}${httpGet.path}`, { signal }).then(
      ({ status }) => status >= 200 && status < 400,
      () => false,
    );
  };
}
