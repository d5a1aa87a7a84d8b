import { homedir } from 'node:os';
import { join } from 'node:path';

/** Of Kubernetes. 1.35 refuses cgroup v1 unless the kubelet is told otherwise. */
export const kubernetesVersion = '1.34.4';

/** What is kept between runs: the binary, which takes the longest, and the images. */
export const cacheFolder = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'postern-kubernetes',
  kubernetesVersion,
);
/** etcd, the API server, the controllers, the scheduler, the kubelet, the proxy and kubectl, by its first argument. */
export const hyperkube = join(cacheFolder, 'hyperkube');
/** Archives of images. */
export const imagesFolder = join(cacheFolder, 'images');
/** All that a running node writes; removed with it. */
export const stateFolder = join(cacheFolder, 'state');

/** Where the images are said to come from. */
export const registry = 'registry.example.com';
