import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { nodeName } from './addresses.ts';
import type { Api } from './api.ts';

const volumesPath = '/api/v1/persistentvolumes';

/** Makes a volume in a folder of its own for every claim, and removes it with the claim. */
export function provisionVolumes(api: Api, state: string): void {
  const made = new Set<string>();
  const claims = api.watch('/api/v1/persistentvolumeclaims', () => {
    for (const claim of claims.items()) {
      const { uid } = claim.metadata;
      if (claim.status?.phase !== 'Pending' || made.has(uid)) continue;
      made.add(uid);
      const path = join(state, 'volumes', uid);
      mkdirSync(path, { recursive: true });
      void api.send('POST', volumesPath, volumeFor(claim, path));
    }
  });
  const volumes = api.watch(volumesPath, () => {
    for (const { metadata, spec, status } of volumes.items()) {
      if (status?.phase !== 'Released' || metadata.deletionTimestamp) continue;
      void api.send('DELETE', `${volumesPath}/${metadata.name}`);
      rmSync(spec.local.path, { recursive: true, force: true });
    }
  });
}

function volumeFor({ metadata, spec }: any, path: string): object {
  const { name, namespace, uid } = metadata;
  // A local one, because the kubelet gives a hostPath to no group.
  const thisNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `claim-${uid}` },
    spec: {
      capacity: spec.resources.requests,
      accessModes: spec.accessModes,
      storageClassName: spec.storageClassName,
      persistentVolumeReclaimPolicy: 'Retain',
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [thisNode] }] } },
    },
  };
}
