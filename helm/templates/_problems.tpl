{{/* Combinations that can't work, each as a sentence in a list. The schema of the values has judged their types. */}}
{{- define "postern.problems" -}}
{{- $problems := list -}}
{{- range $part := list "config" "secret" "store" "replica" "mode" "pod" -}}
{{- $problems = concat $problems (include (printf "postern.%sProblems" $part) $ | fromYamlArray) -}}
{{- end -}}
{{- toYaml $problems -}}
{{- end -}}

{{/* Without these `postern check` fails in the pod, where nobody sees it. */}}
{{- define "postern.configProblems" -}}
{{- $config := .Values.config -}}
{{- if not .Values.existingConfig }}
{{- if not $config.tenant }}
- config.tenant is missing; it names this instance.
{{- end }}
{{- if not $config.base_url }}
- config.base_url is missing; it is the origin that clients see.
{{- end }}
{{- if not $config.upstreams }}
- config.upstreams is missing; name the service that Postern stands in front of.
{{- end }}
{{- if not $config.routes }}
- config.routes is missing; without a route no path reaches the service.
{{- end }}
{{- end }}
{{- if has $config.management.host (list "127.0.0.1" "::1" "localhost") }}
- config.management.host is {{ $config.management.host }}; the kubelet's probes come from outside the pod.
{{- end }}
{{- if eq (int $config.management.port) (int $config.listen.port) }}
- config.management.port and config.listen.port are both {{ $config.listen.port }}; the public port must not serve /metrics.
{{- end }}
{{- end -}}

{{/* A ConfigMap is no place for a secret. */}}
{{- define "postern.secretProblems" -}}
{{- $config := .Values.config -}}
{{- $stores := $config.stores -}}
{{- if kindIs "string" (dig "bootstrap" "token" false $config) }}
- config.bootstrap.token is in plain text; name its Secret at secrets.bootstrapToken.existingSecret.
{{- end }}
{{- range $key, $value := dict "records_password" "recordsPassword" "sessions_password" "sessionsPassword" "sessions_sentinel_password" "sessionsSentinelPassword" }}
{{- if kindIs "string" (index $stores $key) }}
- config.stores.{{ $key }} is in plain text; name its Secret at secrets.{{ $value }}.existingSecret.
{{- end }}
{{- end }}
{{- range $store := list "records" "sessions" }}
{{- $address := index $stores $store }}
{{- if and (kindIs "string" $address) (regexMatch "^[a-z+]+://[^/@]*:[^/@]*@" $address) }}
- config.stores.{{ $store }} has a password in its address; leave it out there and name its Secret at secrets.{{ $store }}Password.existingSecret.
{{- end }}
{{- end }}
{{- range $name, $provider := $config.identity_providers }}
{{- if kindIs "string" $provider.client_secret }}
- config.identity_providers.{{ $name }}.client_secret is in plain text; name its Secret at secrets.identityProviders.{{ $name }}.existingSecret.
{{- end }}
{{- end }}
{{- range $name, $from := .Values.secrets.identityProviders }}
{{- if not (or $from.existingSecret $from.value) }}
- secrets.identityProviders.{{ $name }} has no existingSecret.
{{- end }}
{{- if and (not $.Values.existingConfig) (not (hasKey ($config.identity_providers | default dict) $name)) }}
- secrets.identityProviders.{{ $name }} is the secret of no provider in config.identity_providers.
{{- end }}
{{- end }}
{{- end -}}

{{- define "postern.storeProblems" -}}
{{- $stores := .Values.config.stores -}}
{{- range $store := list "records" "sessions" }}
{{- $address := index $stores $store | default "sqlite:" }}
{{- if kindIs "string" $address }}
{{- $isFile := hasPrefix "sqlite:" $address }}
{{- $from := index $.Values.secrets (printf "%sPassword" $store) }}
{{- $hasPassword := or $from.existingSecret $from.value (index $stores (printf "%s_password" $store)) (dig (printf "%s_tls" $store) "cert" "" $stores) }}
{{- if and $isFile (not (hasPrefix "sqlite:/data/" $address)) (not $.Values.extraVolumeMounts) }}
- config.stores.{{ $store }} is an SQLite file outside /data; nothing else can be written.
{{- end }}
{{- if and (not $isFile) $from.required (not $hasPassword) }}
- secrets.{{ $store }}Password.existingSecret is missing; config.stores.{{ $store }} is a server. Set secrets.{{ $store }}Password.required to false when it asks for no password.
{{- end }}
{{- if and $isFile (or $from.existingSecret $from.value) }}
- secrets.{{ $store }}Password is the password of a server, but config.stores.{{ $store }} is an SQLite file.
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A file belongs to one pod: a second one would serve other users and keys, or wait for the volume for ever. */}}
{{- define "postern.replicaProblems" -}}
{{- $several := list -}}
{{- if gt (int .Values.replicaCount) 1 }}{{ $several = append $several (printf "replicaCount is %d" (int .Values.replicaCount)) }}{{ end -}}
{{- if .Values.autoscaling.enabled }}{{ $several = append $several "autoscaling is enabled" }}{{ end -}}
{{- if .Values.podDisruptionBudget.enabled }}{{ $several = append $several "podDisruptionBudget is enabled" }}{{ end -}}
{{- range $why := $several }}
{{- range $store := list "records" "sessions" }}
{{- if include "postern.isFile" (dict "root" $ "store" $store) }}
- {{ $why }}, but config.stores.{{ $store }} is an SQLite file (or not written out), which belongs to one pod; it must be a server's address for that.
{{- end }}
{{- end }}
{{- end }}
{{- if and (include "postern.hasFiles" .) .Values.strategy (ne (dig "type" "" .Values.strategy) "Recreate") }}
- strategy must be Recreate with an SQLite store; two pods can't hold its volume at the same time.
{{- end }}
{{- end -}}

{{- define "postern.modeProblems" -}}
{{- $config := .Values.config -}}
{{- $isSidecar := eq .Values.mode "sidecar" -}}
{{- range $name, $upstream := $config.upstreams }}
{{- $url := $upstream.url | default "" | toString }}
{{- $isLoopback := regexMatch "^https?://(localhost|127\\.[0-9.]+|\\[::1\\])(:|$)" $url }}
{{- $port := regexFind "[0-9]+$" $url | int }}
{{- if and $isLoopback (not $isSidecar) (not $.Values.extraContainers) }}
- config.upstreams.{{ $name }}.url is loopback, where a gateway's pod has Postern alone; name the Service, or set mode to sidecar.
{{- end }}
{{- if and $isLoopback $isSidecar (has $port (list (int $config.listen.port) (int $config.management.port))) }}
- config.upstreams.{{ $name }}.url is Postern's own port {{ $port }}; the containers of a pod share their ports.
{{- end }}
{{- end }}
{{- if and (not $isSidecar) .Values.sidecar.containers }}
- sidecar.containers are given, but mode is gateway.
{{- end }}
{{- if and $isSidecar (not .Values.sidecar.containers) }}
{{- if .Values.autoscaling.enabled }}
- autoscaling is enabled, but the workload is another chart's; scale it there.
{{- end }}
{{- if not (contains "/charts/" .Template.BasePath) }}
- sidecar.containers is missing; give the service's containers, or make this chart a dependency of the chart that has them and include its postern.sidecar templates.
{{- end }}
{{- end }}
{{- end -}}

{{- define "postern.podProblems" -}}
{{- $grace := .Values.terminationGracePeriodSeconds -}}
{{- if and $grace (le (int $grace) (include "postern.stopSeconds" . | int)) }}
- terminationGracePeriodSeconds is {{ $grace }}, but a pod takes {{ include "postern.stopSeconds" . }} s to end (config.shutdown, and in a sidecar's pod preStopSleepSeconds and stopSeconds); it must be more.
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
- httpRoute.parentRefs is missing; a route belongs to a Gateway.
{{- end }}
{{- range $kind, $hosts := dict "ingress" .Values.ingress.hosts "httpRoute" .Values.httpRoute.hostnames }}
{{- if and (index $.Values $kind "enabled") (not $hosts) (not (kindIs "string" $.Values.config.base_url)) (or $.Values.config.base_url $.Values.existingConfig) }}
- {{ $kind }} is enabled, but its host is not given and config.base_url is not written out.
{{- end }}
{{- end }}
{{- if and .Values.podDisruptionBudget.enabled (not .Values.autoscaling.enabled) (eq (toString .Values.podDisruptionBudget.minAvailable) (toString .Values.replicaCount)) }}
- podDisruptionBudget.minAvailable is all there are; no node could ever be drained.
{{- end }}
{{- end -}}
